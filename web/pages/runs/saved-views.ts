/** A named filter for the list of runs. */
export interface SavedView {
  readonly name: string;
  /** The query string, without the question mark. */
  readonly query: string;
}

const KEY = 'sluice.views';
const MAX_VIEWS = 30;
const MAX_NAME_LENGTH = 60;
/** Enough for a search of 200 characters, each escaped to up to nine. */
const MAX_QUERY_LENGTH = 4000;

/** Reads stored views; invalid ones are skipped. */
export function readViews(stored: string | null): readonly SavedView[] {
  let list: unknown;
  try {
    list = JSON.parse(stored ?? '[]');
  } catch {
    return [];
  }
  if (!Array.isArray(list)) return [];
  return list.filter(isView).slice(0, MAX_VIEWS);
}

function isView(value: unknown): value is SavedView {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('query' in value)) return false;
  return typeof value.name === 'string' && typeof value.query === 'string' && value.query.length <= MAX_QUERY_LENGTH;
}

/** Adds a view, or replaces the view with the same name. */
export function putView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  const name = view.name.trim().slice(0, MAX_NAME_LENGTH);
  if (name === '') return views;
  return [...views.filter((known) => known.name !== name), { ...view, name }].slice(-MAX_VIEWS);
}

/** Loads this browser's views. */
export function loadViews(): readonly SavedView[] {
  try {
    return readViews(localStorage.getItem(KEY));
  } catch {
    return [];
  }
}

/** Stores this browser's views. */
export function storeViews(views: readonly SavedView[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(views));
  } catch {
    // Storage may be forbidden; then the views last until the page is closed.
  }
}
