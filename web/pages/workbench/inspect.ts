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
import type { Inspection, ValueNote, LimitedList, Span, WorkbenchOptions } from './inspection.js';
import { locatePath } from './locate-path.js';
import { surveyCandidates, describeSelected } from './survey-candidates.js';
import { formatPath, createRowKey, toValueRows } from './value-rows.js';

/** The maximum number of entries per list passed to the page. */
const MAX_LISTED = 200;
/** The maximum number of characters scanned to locate notes in the input; each lookup scans its candidate. */
const MAX_SCANNED_LENGTH = 20_000_000;

/** The inspection for the page, and the complete value, which can be too large for the page. */
export interface Inspected {
  readonly inspection: Inspection;
  readonly value: unknown;
}

/** An inspection together with the result of `parse`. */
export interface InspectedResult extends Inspected {
  readonly result: ParseResult<unknown>;
}

/** Parses the input and reports everything known about the result. */
export function inspect(text: string, schema: AlignableSchema | undefined, chosen: WorkbenchOptions): InspectedResult {
  const options = toParseOptions(chosen, schema);
  const result = parse(text, schema, options);
  const inspected = { ...inspectResult(text, result), result };
  if (!result.ok || isWholeInput(text, result, options)) return inspected;
  const candidates = limitList(surveyCandidates(text, schema, options, result));
  return { ...inspected, inspection: { ...inspected.inspection, candidates } };
}

/** Inspects a result; for a success, with the selected candidate only. */
function inspectResult(text: string, result: ParseResult<unknown>): Inspected {
  switch (result.status) {
    case 'success':
      return inspectSuccess(text, result);
    case 'failed':
      return inspectFailure(text, result);
    case 'comment':
      return { inspection: { ...createEmpty(result), outcome: { status: 'comment' } }, value: undefined };
  }
}

/** Whether the whole input was selected. It is tried first, so there are no other candidates to list. */
function isWholeInput(text: string, { candidate }: ParseSuccess<unknown>, { prefer }: ParseOptions): boolean {
  return prefer === undefined && candidate.finder === 'whole' && candidate.start === 0 && candidate.end === text.length;
}

/** Converts the chosen options to `parse` options. Without a schema there is nothing to align to. */
export function toParseOptions(chosen: WorkbenchOptions, schema: AlignableSchema | undefined): ParseOptions {
  const { profile, allowPartial, align, prefer } = chosen;
  return { profile, allowPartial, align: align && schema !== undefined, ...(prefer !== null && { prefer }) };
}

function inspectSuccess(text: string, result: ParseSuccess<unknown>): Inspected {
  const { value, repairLevel, repairs, alignment, candidate } = result;
  const locate = createLocator(text, candidate);
  const notes = limitList(alignment, (change) => createChangeNote(change, locate));
  const inspection: Inspection = {
    outcome: { status: 'success', repairLevel },
    candidates: limitList([describeSelected(result)]),
    repairs: limitList(repairs),
    notes,
    warnings: result.warnings.slice(0, MAX_LISTED),
    value: toValueRows(value, groupByRow(notes.items)),
  };
  return { inspection, value };
}

function inspectFailure(text: string, result: ParseFailure): Inspected {
  const { error, attempts } = result;
  // The error comes from the first candidate with the same code.
  const candidate = attempts.find(({ code }) => code === error.code)?.candidate;
  const locate = candidate === undefined ? () => null : createLocator(text, candidate);
  const notes = limitList(error.issues ?? [], (issue) => createIssueNote(issue, error.value, locate));
  const inspection: Inspection = {
    ...createEmpty(result),
    outcome: { status: 'failed', code: error.code, message: error.message },
    candidates: limitList(attempts, ({ candidate: { finder, start, end }, code, message }) => ({
      finder,
      start,
      end,
      state: 'rejected',
      code,
      reason: message,
    })),
    notes,
    value: error.value === undefined ? null : toValueRows(error.value, groupByRow(notes.items)),
  };
  return { inspection, value: error.value };
}

function createEmpty({ warnings }: ParseResult<unknown>): Omit<Inspection, 'outcome'> {
  const emptyList = { items: [], total: 0 };
  return {
    candidates: emptyList,
    repairs: emptyList,
    notes: emptyList,
    warnings: warnings.slice(0, MAX_LISTED),
    value: null,
  };
}

type Locate = (path: Path, expected: unknown) => Span | null;

/**
 * Creates a function that locates a value path in the input. A location counts only if it parses to the expected value.
 */
function createLocator(text: string, { finder, start, end }: Span & { readonly finder: string }): Locate {
  // The content of an envelope is inside a string, with other offsets.
  if (finder === 'envelope') return () => null;
  const section = text.slice(start, end);
  const first = section.search(/[[{]/);
  if (first === -1) return () => null;
  let scansLeft = Math.floor(MAX_SCANNED_LENGTH / section.length);
  return (path, expected) => {
    if (--scansLeft < 0) return null;
    const span = locatePath(section, first, path);
    if (span === null || !parsesTo(section.slice(span.start, span.end), expected)) return null;
    return { start: start + span.start, end: start + span.end };
  };
}

function parsesTo(formatted: string, expected: unknown): boolean {
  if (formatted === expected) return true;
  const result = parse(formatted);
  return result.ok && JSON.stringify(result.value) === JSON.stringify(expected);
}

/** Creates the note for an issue. An issue about a missing key is shown at its parent. */
function createIssueNote({ path, message }: SchemaIssue, value: unknown, locate: Locate): ValueNote {
  const target = findValue(value, path);
  const place = formatPath(path);
  if (target.exists)
    return { kind: 'issue', path: place, message, row: createRowKey(path), span: locate(path, target.value) };
  const parent = path.slice(0, -1);
  const span = locate(parent, findValue(value, parent).value);
  // Only the opening bracket is marked, because the rest of the parent is not wrong.
  const bracket = span === null ? null : { start: span.start, end: span.start + 1 };
  return { kind: 'issue', path: place, message, row: createRowKey(parent), span: bracket };
}

function createChangeNote({ path, rule, from, to }: AlignmentChange, locate: Locate): ValueNote {
  const parent = path.slice(0, -1);
  const change = to === undefined ? `${formatShort(from)} removed` : `${formatShort(from)} → ${formatShort(to)}`;
  const note = { kind: 'change', path: formatPath(path), message: `${rule}: ${change}` } as const;
  // The key was removed or renamed.
  if (to === undefined) return { ...note, row: createRowKey(parent), span: locate(path, from) };
  if (rule === 'key_spelling' && typeof to === 'string')
    return { ...note, row: createRowKey([...parent, to]), span: null };
  return { ...note, row: createRowKey(path), span: locate(path, from) };
}

function findValue(value: unknown, path: Path): { readonly exists: boolean; readonly value: unknown } {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step))
      return { exists: false, value: undefined };
    current = (current as Readonly<Record<string | number, unknown>>)[step];
  }
  return { exists: true, value: current };
}

function formatShort(value: unknown): string {
  const formatted = JSON.stringify(value) ?? 'nothing';
  return formatted.length > 80 ? `${formatted.slice(0, 80)}…` : formatted;
}

function groupByRow(notes: readonly ValueNote[]): ReadonlyMap<string, readonly ValueNote[]> {
  const rows = new Map<string, ValueNote[]>();
  for (const note of notes) {
    const list = rows.get(note.row);
    if (list === undefined) rows.set(note.row, [note]);
    else list.push(note);
  }
  return rows;
}

function limitList<Item>(items: readonly Item[]): LimitedList<Item>;
function limitList<Item, View>(items: readonly Item[], view: (item: Item) => View): LimitedList<View>;
function limitList(items: readonly unknown[], view = (item: unknown): unknown => item): LimitedList<unknown> {
  return { items: items.slice(0, MAX_LISTED).map(view), total: items.length };
}
