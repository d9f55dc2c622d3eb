/** The pages of the navigation, in order. After `g`, the key opens the page. */
export const PAGES = {
  now: { key: 'n', group: 'work' },
  inbox: { key: 'i', group: 'work' },
  runs: { key: 'r', group: 'work' },
  issues: { key: 's', group: 'work' },
  schedules: { key: 'd', group: 'work' },
  outbox: { key: 'o', group: 'delivery' },
  sinks: { key: 'v', group: 'delivery' },
  executions: { key: 'e', group: 'delivery' },
  workers: { key: 'k', group: 'system' },
  budgets: { key: 'b', group: 'system' },
  charts: { key: 'c', group: 'system' },
  rules: { key: 'a', group: 'system' },
  tokens: { key: 't', group: 'system' },
  workbench: { key: 'w', group: 'tools' },
} as const;

export type PageName = keyof typeof PAGES;

export const PAGE_NAMES = Object.keys(PAGES) as readonly PageName[];

export const PAGE_GROUPS = (['work', 'delivery', 'system', 'tools'] as const).map((group) => ({
  group,
  pages: PAGE_NAMES.filter((name) => PAGES[name].group === group),
}));

/** The current page: one variant per page. Path and query together form the linkable state. */
export type Route =
  | { readonly page: Exclude<PageName, 'inbox' | 'issues'> }
  | { readonly page: 'run'; readonly id: string }
  | { readonly page: 'inbox'; readonly id: string | null }
  | { readonly page: 'issues'; readonly ref: string | null }
  | { readonly page: 'unknown'; readonly path: string };

/** Parses a path into a route; a path without a page becomes `unknown`. */
export function readRoute(path: string): Route {
  const [first = 'now', segment = null, ...otherSegments] = path.split('/').filter((part) => part !== '');
  const name = segment === null ? null : decode(segment);
  const page = PAGE_NAMES.find((known) => known === first);
  if (page === undefined || otherSegments.length > 0) return { page: 'unknown', path };
  if (page === 'inbox') return { page, id: name };
  if (page === 'issues') return { page, ref: name };
  if (name === null) return { page };
  return page === 'runs' ? { page: 'run', id: name } : { page: 'unknown', path };
}

/** Returns a route's path; the inverse of `readRoute`. */
export function toPath(route: Route): string {
  if (route.page === 'unknown') return route.path;
  if (route.page === 'run') return `/runs/${encodeURIComponent(route.id)}`;
  const name = route.page === 'inbox' ? route.id : route.page === 'issues' ? route.ref : null;
  return name === null ? `/${route.page}` : `/${route.page}/${encodeURIComponent(name)}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
