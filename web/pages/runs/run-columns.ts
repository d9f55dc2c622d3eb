import { signal } from '@preact/signals';

/** Optional columns in the list of runs. State and prompt are always shown. */
export const OPTIONAL_COLUMNS = ['Engine', 'Repair', 'Tokens', 'Cost', 'Folder', 'Created', 'Duration'] as const;

/** See {@link OPTIONAL_COLUMNS}. */
export type OptionalColumn = (typeof OPTIONAL_COLUMNS)[number];

const DEFAULT: readonly OptionalColumn[] = ['Engine', 'Repair', 'Tokens', 'Cost', 'Created', 'Duration'];
const KEY = 'sluice.columns';

/** The visible optional columns, in table order. */
export const columns = signal(readColumns(readStored()));

/** Reads a stored choice; unknown columns are skipped. */
export function readColumns(stored: string | null): readonly OptionalColumn[] {
  if (stored === null) return DEFAULT;
  const names = stored.split(',');
  return OPTIONAL_COLUMNS.filter((column) => names.includes(column));
}

/** Shows or hides a column in this browser. */
export function toggleColumn(column: OptionalColumn): void {
  columns.value = OPTIONAL_COLUMNS.filter((name) => columns.value.includes(name) !== (name === column));
  try {
    localStorage.setItem(KEY, columns.value.join(','));
  } catch {
    // Storage may be forbidden; then the choice lasts until the page is closed.
  }
}

function readStored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
