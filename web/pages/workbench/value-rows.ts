import type { Path } from '../../../src/json/index.js';
import type { ValueNote, ValueRow, ValueView } from './inspection.js';

/** Limits for showing a value. */
export interface ValueBounds {
  readonly rows: number;
  /** The maximum number of characters per string. */
  readonly characters: number;
}

/** The default limits: enough to read. The complete value can be copied. */
const VALUE_BOUNDS: ValueBounds = { rows: 2000, characters: 1000 };

/** Notes by row key ({@link createRowKey}). */
export type NotesByRow = ReadonlyMap<string, readonly ValueNote[]>;

interface Frame {
  readonly entries: readonly (readonly [string | number, unknown])[];
  readonly close: '}' | ']';
  readonly path: Path;
  next: number;
}

/**
 * Formats the first lines of a value as JSON, each with its notes. It uses an explicit stack and stops once there are
 * enough lines, no matter how large the value is.
 */
export function toValueRows(value: unknown, notes: NotesByRow, bounds: ValueBounds = VALUE_BOUNDS): ValueView {
  const rows: ValueRow[] = [];
  const open: Frame[] = [];

  const write = (part: unknown, key: string | number | null, path: Path, isLast: boolean): void => {
    const common = { depth: open.length, key: typeof key === 'string' ? JSON.stringify(key) : null };
    const rowNotes = notes.get(createRowKey(path)) ?? [];
    const comma = isLast ? '' : ',';
    const entries = listEntries(part, bounds.rows);
    if (entries === null) {
      rows.push({ ...common, text: formatScalar(part, bounds.characters) + comma, notes: rowNotes });
    } else if (entries.length === 0) {
      rows.push({ ...common, text: (Array.isArray(part) ? '[]' : '{}') + comma, notes: rowNotes });
    } else {
      rows.push({ ...common, text: Array.isArray(part) ? '[' : '{', notes: rowNotes });
      open.push({ entries, close: Array.isArray(part) ? ']' : '}', path, next: 0 });
    }
  };

  write(value, null, [], true);
  while (rows.length < bounds.rows) {
    const frame = open.at(-1);
    if (frame === undefined) return { rows, isTruncated: false };
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
  return { rows, isTruncated: open.length > 0 };
}

/** Formats a path: `items.3.name`. */
export function formatPath(path: Path): string {
  return path.join('.');
}

/** Creates a unique key for a path, no matter what its keys contain. */
export function createRowKey(path: Path): string {
  return path.map((step) => JSON.stringify(String(step))).join();
}

/** Lists as many members or elements as can be shown; null for other values. */
function listEntries(value: unknown, limit: number): readonly (readonly [string | number, unknown])[] | null {
  if (Array.isArray(value)) return value.slice(0, limit).map((item: unknown, index) => [index, item]);
  if (typeof value !== 'object' || value === null) return null;
  return Object.entries(value).slice(0, limit);
}

function formatScalar(value: unknown, limit: number): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null';
  if (value.length <= limit) return JSON.stringify(value);
  return `${JSON.stringify(value.slice(0, limit))} … ${(value.length - limit).toLocaleString('en')} more characters`;
}
