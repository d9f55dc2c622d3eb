import type { Path } from '../../../src/json/index.js';
import type { PlaceNote, ValueRow, ValueView } from './inspection.js';

/** The limits of a value in the page. */
export interface ValueBounds {
  readonly rows: number;
  /** Longest string shown, in characters. */
  readonly characters: number;
}

/** Enough to read; the whole value can be copied. */
const VALUE_BOUNDS: ValueBounds = { rows: 2000, characters: 1000 };

/** Notes by {@link rowKey} of their path. */
export type NotesByPlace = ReadonlyMap<string, readonly PlaceNote[]>;

interface Frame {
  readonly entries: readonly (readonly [string | number, unknown])[];
  readonly close: '}' | ']';
  readonly path: Path;
  next: number;
}

/**
 * The first lines of a value as JSON is written, each with the notes on its place. Keeps its own stack, and stops once
 * there are enough lines, however large the value is.
 */
export function toValueRows(value: unknown, notes: NotesByPlace, bounds: ValueBounds = VALUE_BOUNDS): ValueView {
  const rows: ValueRow[] = [];
  const open: Frame[] = [];

  const write = (one: unknown, key: string | number | null, path: Path, isLast: boolean): void => {
    const shared = { depth: open.length, key: typeof key === 'string' ? JSON.stringify(key) : null };
    const about = notes.get(rowKey(path)) ?? [];
    const comma = isLast ? '' : ',';
    const entries = listEntries(one, bounds.rows);
    if (entries === null) {
      rows.push({ ...shared, text: scalar(one, bounds.characters) + comma, notes: about });
    } else if (entries.length === 0) {
      rows.push({ ...shared, text: (Array.isArray(one) ? '[]' : '{}') + comma, notes: about });
    } else {
      rows.push({ ...shared, text: Array.isArray(one) ? '[' : '{', notes: about });
      open.push({ entries, close: Array.isArray(one) ? ']' : '}', path, next: 0 });
    }
  };

  write(value, null, [], true);
  while (rows.length < bounds.rows) {
    const frame = open.at(-1);
    if (frame === undefined) return { rows, cut: false };
    const entry = frame.entries[frame.next];
    if (entry === undefined) {
      open.pop();
      const parent = open.at(-1);
      const isLast = parent === undefined || parent.next >= parent.entries.length;
      rows.push({ depth: open.length, key: null, text: frame.close + (isLast ? '' : ','), notes: [] });
      continue;
    }
    frame.next += 1;
    write(entry[1], entry[0], [...frame.path, entry[0]], frame.next >= frame.entries.length);
  }
  return { rows, cut: open.length > 0 };
}

/** A path as people write it: `items.3.name`. */
export function formatPath(path: Path): string {
  return path.join('.');
}

/** A unique key for a path, whatever its keys contain. */
export function rowKey(path: Path): string {
  return path.map((step) => JSON.stringify(String(step))).join();
}

/** Members or elements, no more than can be shown; null for what holds nothing. */
function listEntries(value: unknown, most: number): readonly (readonly [string | number, unknown])[] | null {
  if (Array.isArray(value)) return value.slice(0, most).map((item: unknown, index) => [index, item]);
  if (typeof value !== 'object' || value === null) return null;
  return Object.entries(value).slice(0, most);
}

function scalar(value: unknown, most: number): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null';
  if (value.length <= most) return JSON.stringify(value);
  return `${JSON.stringify(value.slice(0, most))} … ${(value.length - most).toLocaleString('en')} more characters`;
}
