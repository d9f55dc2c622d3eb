import { parse } from '../../../src/json/index.js';
import type {
  AlignableSchema,
  AlignmentChange,
  ParseFailure,
  ParseOptions,
  ParseResult,
  ParseSuccess,
  Path,
  SchemaIssue,
} from '../../../src/json/index.js';
import type { Inspection, PlaceNote, Some, Span, WorkbenchOptions } from './inspection.js';
import { locatePath } from './locate-path.js';
import { surveyCandidates, takenCandidate } from './survey-candidates.js';
import { formatPath, rowKey, toValueRows } from './value-rows.js';

/** Entries of each list passed to the page, at most. */
const MAX_LISTED = 200;
/** Each place requires a scan of its candidate: together they may scan this many characters. */
const MAX_SCANNED_LENGTH = 20_000_000;

/** The result of `parse`: for the page, and the value itself, which may be too large for it. */
export interface Inspected {
  readonly inspection: Inspection;
  readonly value: unknown;
}

/** An inspection, with the result it is of. */
export interface InspectedResult extends Inspected {
  readonly result: ParseResult<unknown>;
}

/** Reads a text as `parse` does and reports everything known about it. */
export function inspect(text: string, schema: AlignableSchema | undefined, chosen: WorkbenchOptions): InspectedResult {
  const options = toParseOptions(chosen, schema);
  const result = parse(text, schema, options);
  const inspected = { ...inspectResult(text, result), result };
  if (!result.ok || isWhole(text, result, options)) return inspected;
  const candidates = some(surveyCandidates(text, schema, options, result));
  return { ...inspected, inspection: { ...inspected.inspection, candidates } };
}

/** Shows what a result contains: of a success, only the candidate that was taken. */
function inspectResult(text: string, result: ParseResult<unknown>): Inspected {
  switch (result.status) {
    case 'success':
      return inspectSuccess(text, result);
    case 'failed':
      return inspectFailure(text, result);
    case 'comment':
      return { inspection: { ...nothing(result), outcome: { status: 'comment' } }, value: undefined };
  }
}

/** The whole text is tried first: if it was selected, there are no other candidates to list. */
function isWhole(text: string, { candidate }: ParseSuccess<unknown>, { prefer }: ParseOptions): boolean {
  return prefer === undefined && candidate.finder === 'whole' && candidate.start === 0 && candidate.end === text.length;
}

/** Converts the chosen options to those of `parse`. Without a schema there is nothing to align to. */
export function toParseOptions(chosen: WorkbenchOptions, schema: AlignableSchema | undefined): ParseOptions {
  const { profile, allowPartial, align, prefer } = chosen;
  return { profile, allowPartial, align: align && schema !== undefined, ...(prefer !== null && { prefer }) };
}

function inspectSuccess(text: string, result: ParseSuccess<unknown>): Inspected {
  const { value, repairLevel, repairs, alignment, candidate } = result;
  const locate = createLocator(text, candidate);
  const notes = some(alignment, (change) => createChangeNote(change, locate));
  const inspection: Inspection = {
    outcome: { status: 'success', repairLevel },
    candidates: some([takenCandidate(result)]),
    repairs: some(repairs),
    notes,
    warnings: result.warnings.slice(0, MAX_LISTED),
    value: toValueRows(value, byRow(notes.items)),
  };
  return { inspection, value };
}

function inspectFailure(text: string, result: ParseFailure): Inspected {
  const { error, attempts } = result;
  // The error is that of the first candidate that came so far.
  const candidate = attempts.find(({ code }) => code === error.code)?.candidate;
  const locate = candidate === undefined ? () => null : createLocator(text, candidate);
  const notes = some(error.issues ?? [], (issue) => createIssueNote(issue, error.value, locate));
  const inspection: Inspection = {
    ...nothing(result),
    outcome: { status: 'failed', code: error.code, message: error.message },
    candidates: some(attempts, ({ candidate: { finder, start, end }, code, message }) => ({
      finder,
      start,
      end,
      state: 'refused',
      code,
      reason: message,
    })),
    notes,
    value: error.value === undefined ? null : toValueRows(error.value, byRow(notes.items)),
  };
  return { inspection, value: error.value };
}

function nothing({ warnings }: ParseResult<unknown>): Omit<Inspection, 'outcome'> {
  const none = { items: [], total: 0 };
  return { candidates: none, repairs: none, notes: none, warnings: warnings.slice(0, MAX_LISTED), value: null };
}

type Locate = (path: Path, expected: unknown) => Span | null;

/** Finds places of the value in the text; a place counts only if the text there parses to the expected value. */
function createLocator(text: string, { finder, start, end }: Span & { readonly finder: string }): Locate {
  // The content of an envelope is inside a string, with other offsets.
  if (finder === 'envelope') return () => null;
  const stretch = text.slice(start, end);
  const first = stretch.search(/[[{]/);
  if (first === -1) return () => null;
  let walks = Math.floor(MAX_SCANNED_LENGTH / stretch.length);
  return (path, expected) => {
    if (--walks < 0) return null;
    const span = locatePath(stretch, first, path);
    if (span === null || !readsAs(stretch.slice(span.start, span.end), expected)) return null;
    return { start: start + span.start, end: start + span.end };
  };
}

function readsAs(written: string, expected: unknown): boolean {
  if (written === expected) return true;
  const result = parse(written);
  return result.ok && JSON.stringify(result.value) === JSON.stringify(expected);
}

/** An issue about a missing key is shown at its parent; every other issue at its own place. */
function createIssueNote({ path, message }: SchemaIssue, value: unknown, locate: Locate): PlaceNote {
  const own = valueAt(value, path);
  const place = formatPath(path);
  if (own.exists) return { kind: 'issue', place, message, row: rowKey(path), span: locate(path, own.value) };
  const around = path.slice(0, -1);
  const span = locate(around, valueAt(value, around).value);
  // Its bracket: the whole of it is not wrong.
  const bracket = span === null ? null : { start: span.start, end: span.start + 1 };
  return { kind: 'issue', place, message, row: rowKey(around), span: bracket };
}

function createChangeNote({ path, rule, from, to }: AlignmentChange, locate: Locate): PlaceNote {
  const around = path.slice(0, -1);
  const words = to === undefined ? `${shortly(from)} left out` : `${shortly(from)} → ${shortly(to)}`;
  const note = { kind: 'change', place: formatPath(path), message: `${rule}: ${words}` } as const;
  // The key was removed or renamed.
  if (to === undefined) return { ...note, row: rowKey(around), span: locate(path, from) };
  if (rule === 'key_spelling' && typeof to === 'string') return { ...note, row: rowKey([...around, to]), span: null };
  return { ...note, row: rowKey(path), span: locate(path, from) };
}

function valueAt(value: unknown, path: Path): { readonly exists: boolean; readonly value: unknown } {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step))
      return { exists: false, value: undefined };
    current = (current as Readonly<Record<string | number, unknown>>)[step];
  }
  return { exists: true, value: current };
}

function shortly(value: unknown): string {
  const written = JSON.stringify(value) ?? 'nothing';
  return written.length > 80 ? `${written.slice(0, 80)}…` : written;
}

function byRow(notes: readonly PlaceNote[]): ReadonlyMap<string, readonly PlaceNote[]> {
  const rows = new Map<string, PlaceNote[]>();
  for (const note of notes) {
    const list = rows.get(note.row);
    if (list === undefined) rows.set(note.row, [note]);
    else list.push(note);
  }
  return rows;
}

function some<Item>(items: readonly Item[]): Some<Item>;
function some<Item, View>(items: readonly Item[], view: (item: Item) => View): Some<View>;
function some(items: readonly unknown[], view = (item: unknown): unknown => item): Some<unknown> {
  return { items: items.slice(0, MAX_LISTED).map(view), total: items.length };
}
