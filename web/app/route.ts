/** The current page: one variant per page. Path and query together form the linkable state. */
export type Route =
  | { readonly page: 'runs' }
  | { readonly page: 'run'; readonly id: string }
  | { readonly page: 'inbox'; readonly id: string | null }
  | { readonly page: 'issues'; readonly ref: string | null }
  | { readonly page: 'outbox' }
  | { readonly page: 'executions' }
  | { readonly page: 'workbench' }
  | { readonly page: 'workers' }
  | { readonly page: 'charts' }
  | { readonly page: 'unknown'; readonly path: string };

/** Former page paths, mapped to the current ones. */
const RENAMED_PATHS: Readonly<Record<string, string>> = { '/audit': '/executions' };

/** Returns a renamed page's current path, or null for any other path. */
export function findRenamedPath(path: string): string | null {
  const trimmed = path.replace(/(?<=.)\/$/, '');
  return Object.hasOwn(RENAMED_PATHS, trimmed) ? (RENAMED_PATHS[trimmed] ?? null) : null;
}

/** Parses a path into a route; a path without a page becomes `unknown`. */
export function readRoute(path: string): Route {
  const [page = '', segment = null, ...otherSegments] = path.split('/').filter((part) => part !== '');
  const name = segment === null ? null : decode(segment);
  if (otherSegments.length > 0) return { page: 'unknown', path };
  switch (page) {
    case '':
      return { page: 'runs' };
    case 'runs':
      return name === null ? { page: 'runs' } : { page: 'run', id: name };
    case 'inbox':
      return { page: 'inbox', id: name };
    case 'issues':
      return { page: 'issues', ref: name };
    case 'outbox':
    case 'executions':
    case 'workbench':
    case 'workers':
    case 'charts':
      return name === null ? { page } : { page: 'unknown', path };
    default:
      return { page: 'unknown', path };
  }
}

/** Returns a route's path; the inverse of `readRoute`. */
export function toPath(route: Route): string {
  switch (route.page) {
    case 'run':
      return `/runs/${encodeURIComponent(route.id)}`;
    case 'inbox':
      return route.id === null ? '/inbox' : `/inbox/${encodeURIComponent(route.id)}`;
    case 'issues':
      return route.ref === null ? '/issues' : `/issues/${encodeURIComponent(route.ref)}`;
    case 'unknown':
      return route.path;
    case 'runs':
    case 'outbox':
    case 'executions':
    case 'workbench':
    case 'workers':
    case 'charts':
      return `/${route.page}`;
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
