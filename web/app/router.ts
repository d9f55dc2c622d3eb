import { computed, signal } from '@preact/signals';
import { readRoute } from './route.js';

const address = signal({ path: location.pathname, query: location.search });

/** Where one is. Pages read it, and change it with {@link navigate} or an ordinary link. */
export const route = computed(() => readRoute(address.value.path));

/** What stands behind the `?`: filters and the chosen item, so that a view can be linked to. */
export const query = computed(() => new URLSearchParams(address.value.query));

/** Goes to another page of the console. */
export function navigate(path: string): void {
  history.pushState(null, '', path);
  readAddress();
  scrollTo(0, 0);
}

/** Changes what stands behind the `?` without a step in the history; null takes a name out. */
export function setQuery(changes: Readonly<Record<string, string | null>>): void {
  const next = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  history.replaceState(null, '', text === '' ? location.pathname : `${location.pathname}?${text}`);
  readAddress();
}

/** Takes over clicks on links within the console and the browser's own steps back and forth. */
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

/** A click that would load one of our own pages in this tab. What the server answers itself (`/v1`, `/docs`) is left alone. */
function isPlainClick(event: MouseEvent, link: HTMLAnchorElement): boolean {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return false;
  if (link.origin !== location.origin || link.target !== '' || link.hasAttribute('download')) return false;
  return link.hash === '' && readRoute(link.pathname).page !== 'unknown';
}

function readAddress(): void {
  address.value = { path: location.pathname, query: location.search };
}
