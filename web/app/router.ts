import { computed, signal } from '@preact/signals';
import { readRoute } from './route.js';

/** Tests of pages' functions have no address. */
const address = signal(typeof location === 'undefined' ? { path: '/', query: '' } : readLocation());

/** The current route. Pages change it with {@link navigate} or an ordinary link. */
export const route = computed(() => readRoute(address.value.path));

/** The query string: filters and the selected item, which makes every view linkable. */
export const query = computed(() => new URLSearchParams(address.value.query));

export function navigate(path: string): void {
  history.pushState(null, '', path);
  readAddress();
  scrollTo(0, 0);
}

/** Changes the query; null removes a parameter. With `isStep`, Back undoes it; otherwise it only records a position. */
export function setQuery(
  changes: Readonly<Record<string, string | null>>,
  { isStep = false }: { readonly isStep?: boolean } = {},
): void {
  const next = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  const path = text === '' ? location.pathname : `${location.pathname}?${text}`;
  if (isStep && path !== location.pathname + location.search) history.pushState(null, '', path);
  else history.replaceState(null, '', path);
  readAddress();
}

/** Handles clicks on links within the console, and the browser's Back and Forward. */
export function followLinks(): () => void {
  addEventListener('popstate', readAddress);
  document.addEventListener('click', followLink);
  return () => {
    removeEventListener('popstate', readAddress);
    document.removeEventListener('click', followLink);
  };
}

function followLink(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || !isPlainClick(event, link)) return;
  event.preventDefault();
  if (link.href !== location.href) navigate(link.pathname + link.search);
}

/** Whether a click opens a console page in this tab. Other links, such as `/docs`, are left to the browser. */
function isPlainClick(event: MouseEvent, link: HTMLAnchorElement): boolean {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return false;
  if (link.origin !== location.origin || link.target !== '' || link.hasAttribute('download')) return false;
  return link.hash === '' && readRoute(link.pathname).page !== 'unknown';
}

function readAddress(): void {
  address.value = readLocation();
}

function readLocation(): Readonly<{ path: string; query: string }> {
  return { path: location.pathname, query: location.search };
}
