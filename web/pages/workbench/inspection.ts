import type {
  FinderName,
  ParseErrorCode,
  Profile,
  Repair,
  RepairLevel,
  Warning,
  Path,
} from '../../../src/json/index.js';
import { groupBy } from '../../../src/base/index.js';

export type InspectionInput = Readonly<{ text: string; schemaText: string; options: WorkbenchOptions }>;

/** The options that the user can choose, named like the `parse` options. */
export interface WorkbenchOptions {
  readonly profile: Profile;
  readonly allowPartial: boolean;
  readonly align: boolean;
  readonly ambiguous: 'first' | 'last' | null;
}

export type Span = Readonly<{ start: number; end: number }>;

/** A candidate's state. The alternative matches with another value; after the selected one, none is checked. */
export type CandidateState = 'selected' | 'rejected' | 'alternative' | 'unchecked';

export interface CandidateView extends Span {
  readonly finder: FinderName;
  readonly state: CandidateState;
  readonly code: ParseErrorCode | null;
  readonly reason: string;
}

/** A note about a part of the value; `span` is null if that part cannot be located in the input. */
export interface ValueNote {
  readonly kind: 'issue' | 'change';
  /** `items.3.name`; empty for the root. */
  readonly path: string;
  readonly message: string;
  /** The key of the row that shows the note (`createRowKey`). A missing key is shown at its parent. */
  readonly row: string;
  readonly span: Span | null;
}

export interface ValueRow {
  readonly depth: number;
  /** The key with its quotes; null in lists and at the root. */
  readonly key: string | null;
  readonly text: string;
  readonly notes: readonly ValueNote[];
}

export type ValueView = Readonly<{ rows: readonly ValueRow[]; isTruncated: boolean }>;

export type SchemaProblem = Readonly<{ message: string; offset: number | null }>;

export type LimitedList<Item> = Readonly<{ items: readonly Item[]; total: number }>;

/** Everything the page shows about one input. All lists are bounded. */
export interface Inspection {
  readonly outcome:
    | { readonly status: 'success'; readonly repairLevel: RepairLevel }
    | { readonly status: 'failed'; readonly code: ParseErrorCode; readonly message: string }
    | { readonly status: 'comment' };
  readonly candidates: LimitedList<CandidateView>;
  readonly repairs: LimitedList<Repair>;
  readonly notes: LimitedList<ValueNote>;
  readonly warnings: readonly Warning[];
  /** The accepted value, or the value that the schema rejected. */
  readonly value: ValueView | null;
}

type ValueBounds = Readonly<{ rows: number; characters: number }>;

const VALUE_BOUNDS: ValueBounds = { rows: 2000, characters: 1000 };

interface Frame {
  readonly entries: readonly (readonly [string | number, unknown])[];
  readonly close: '}' | ']';
  readonly path: Path;
  next: number;
}

/** Formats a value's first lines as JSON, with their notes. Stops after enough lines, however large the value is. */
export function toValueRows(
  value: unknown,
  notes: readonly ValueNote[],
  bounds: ValueBounds = VALUE_BOUNDS,
): ValueView {
  const notesByRow = groupBy(notes, ({ row }) => row);
  const rows: ValueRow[] = [];
  const open: Frame[] = [];
  const write = (part: unknown, key: string | number | null, path: Path, isLast: boolean): void => {
    const common = { depth: open.length, key: typeof key === 'string' ? JSON.stringify(key) : null };
    const rowNotes = notesByRow.get(createRowKey(path)) ?? [];
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

export function formatPath(path: Path): string {
  return path.join('.');
}

export function createRowKey(path: Path): string {
  return path.map((step) => JSON.stringify(String(step))).join();
}

function listEntries(value: unknown, limit: number): readonly (readonly [string | number, unknown])[] | null {
  if (Array.isArray(value)) return value.slice(0, limit).map((item: unknown, index) => [index, item]);
  if (typeof value !== 'object' || value === null) return null;
  return Object.entries(value).slice(0, limit);
}

function formatScalar(value: unknown, limit: number): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null';
  if (value.length <= limit) return JSON.stringify(value);
  return `${JSON.stringify(value.slice(0, limit))} … +${value.length - limit}`;
}
