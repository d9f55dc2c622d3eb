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
  Attempt,
  Candidate,
  StandardResult,
  StandardSchema,
} from '../../../src/json/index.js';
import type { Inspection, ValueNote, LimitedList, Span, WorkbenchOptions, CandidateView } from './inspection.js';
import { locatePath } from './locate-path.js';
import { formatPath, createRowKey, toValueRows } from './inspection.js';

const MAX_LISTED = 200;
/** The maximum number of characters scanned to locate notes in the input; each lookup scans its candidate. */
const MAX_SCANNED_LENGTH = 20_000_000;

/** Inspects the input. Also returns the result, and the complete value, which can be too large for the page. */
export function inspect(text: string, schema: AlignableSchema | undefined, chosen: WorkbenchOptions) {
  const options = toParseOptions(chosen, schema);
  const result = parse(text, schema, options);
  switch (result.status) {
    case 'success': {
      const { value, candidate } = result;
      const inspection = inspectSuccess(text, result);
      // The whole input is tried first, so there are no other candidates to list.
      const isWhole = candidate.finder === 'whole' && candidate.start === 0 && candidate.end === text.length;
      if (isWhole && options.ambiguous === undefined) return { result, value, inspection };
      const candidates = limitList(surveyCandidates(text, schema, options, result));
      return { result, value, inspection: { ...inspection, candidates } };
    }
    case 'failed':
      return { result, value: result.error.value, inspection: inspectFailure(text, result) };
    case 'comment': {
      const inspection: Inspection = { ...createEmpty(result), outcome: { status: 'comment' } };
      return { result, value: undefined, inspection };
    }
  }
}

/** Converts the chosen options to `parse` options. Without a schema there is nothing to align to. */
export function toParseOptions(chosen: WorkbenchOptions, schema: AlignableSchema | undefined): ParseOptions {
  const { profile, allowPartial, align, ambiguous } = chosen;
  return { profile, allowPartial, align: align && schema !== undefined, ...(ambiguous !== null && { ambiguous }) };
}

function inspectSuccess(text: string, result: ParseSuccess<unknown>): Inspection {
  const { value, repairLevel, repairs, alignment, candidate } = result;
  const locate = createLocator(text, candidate);
  const notes = limitList(alignment, (change) => createChangeNote(change, locate));
  return {
    outcome: { status: 'success', repairLevel },
    candidates: limitList([describeSelected(result)]),
    repairs: limitList(repairs),
    notes,
    warnings: result.warnings.slice(0, MAX_LISTED),
    value: toValueRows(value, notes.items),
  };
}

function inspectFailure(text: string, result: ParseFailure): Inspection {
  const { error, attempts } = result;
  // The error comes from the first candidate with the same code.
  const candidate = attempts.find(({ code }) => code === error.code)?.candidate;
  const locate = candidate === undefined ? () => null : createLocator(text, candidate);
  const notes = limitList(error.issues ?? [], (issue) => createIssueNote(issue, error.value, locate));
  return {
    ...createEmpty(result),
    outcome: { status: 'failed', code: error.code, message: error.message },
    candidates: limitList(attempts, ({ candidate: { finder, start, end }, code, message: reason }) => {
      return { finder, start, end, state: 'rejected', code, reason };
    }),
    notes,
    value: error.value === undefined ? null : toValueRows(error.value, notes.items),
  };
}

function createEmpty({ warnings }: ParseResult<unknown>): Omit<Inspection, 'outcome'> {
  const none = { items: [], total: 0 };
  return { candidates: none, repairs: none, notes: none, warnings: warnings.slice(0, MAX_LISTED), value: null };
}

type Locate = (path: Path, expected: unknown) => Span | null;

/** Creates a function that locates a path in the input; a location counts only if it parses to the expected value. */
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
  const change = to === undefined ? `${formatShort(from)} → –` : `${formatShort(from)} → ${formatShort(to)}`;
  const note = { kind: 'change', path: formatPath(path), message: `${rule}: ${change}` } as const;
  // The key was removed or renamed.
  if (to === undefined) return { ...note, row: createRowKey(parent), span: locate(path, from) };
  if (rule === 'key_spelling' && typeof to === 'string')
    return { ...note, row: createRowKey([...parent, to]), span: null };
  return { ...note, row: createRowKey(path), span: locate(path, from) };
}

function findValue(value: unknown, path: Path): Readonly<{ exists: boolean; value: unknown }> {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step))
      return { exists: false, value: undefined };
    current = (current as Readonly<Record<string | number, unknown>>)[step];
  }
  return { exists: true, value: current };
}

function formatShort(value: unknown): string {
  const formatted = JSON.stringify(value) ?? '–';
  return formatted.length > 80 ? `${formatted.slice(0, 80)}…` : formatted;
}

function limitList<Item>(items: readonly Item[]): LimitedList<Item>;
function limitList<Item, View>(items: readonly Item[], view: (item: Item) => View): LimitedList<View>;
function limitList(items: readonly unknown[], view = (item: unknown): unknown => item): LimitedList<unknown> {
  return { items: items.slice(0, MAX_LISTED).map(view), total: items.length };
}

/** Lists all candidates. A success names only the selected one, so the input is parsed again, rejecting everything. */
function surveyCandidates(
  text: string,
  schema: StandardSchema | undefined,
  options: ParseOptions,
  success: ParseSuccess<unknown>,
): readonly CandidateView[] {
  const { attempts, validations } = rejectAll(text, schema, options);
  const winner = success.candidate;
  const alternativeIndex = success.warnings.find(({ code }) => code === 'AMBIGUOUS_CANDIDATES')?.offset;
  const selected = describeSelected(success);
  const views: CandidateView[] = [];
  let validatedCount = 0;
  let isSelected = false;
  for (const { candidate, code, message } of attempts) {
    const validation = code === 'SCHEMA_MISMATCH' ? validations[validatedCount++] : undefined;
    // Without a schema only `rejectValue` rejects a candidate that can be read.
    const matches = code === 'NORMALIZER_FAILED' || (validation !== undefined && validation.issues === undefined);
    if (!isSelected && isSameCandidate(candidate, winner)) {
      isSelected = true;
      views.push(selected);
    } else if (isSelected || matches) {
      // Candidates inside the selected one are skipped: `parse` would not have looked for them.
      if (candidate.start >= winner.start && candidate.end <= winner.end) continue;
      const isAlternative = candidate.start === alternativeIndex;
      views.push({
        ...candidate,
        state: isAlternative ? 'alternative' : 'unchecked',
        code: null,
        reason: isAlternative ? 'ALTERNATIVE' : 'NOT_SELECTED',
      });
    } else {
      const issues = validation?.issues;
      views.push(
        issues === undefined
          ? { ...candidate, state: 'rejected', code, reason: message }
          : { ...candidate, state: 'rejected', code: 'SCHEMA_MISMATCH', reason: describeIssues(issues) },
      );
    }
  }
  return isSelected ? views : [selected, ...views];
}

function describeSelected(success: ParseSuccess<unknown>): CandidateView {
  return { ...success.candidate, state: 'selected', code: null, reason: explainSelection(success) };
}

function rejectAll(
  text: string,
  schema: StandardSchema | undefined,
  { profile, ambiguous }: ParseOptions,
): Readonly<{ attempts: readonly Attempt[]; validations: readonly StandardResult<unknown>[] }> {
  const validations: StandardResult<unknown>[] = [];
  const settings = { ...(profile !== undefined && { profile }), ...(ambiguous !== undefined && { ambiguous }) };
  const result =
    schema === undefined
      ? parse(text, undefined, { ...settings, normalizers: [rejectValue] })
      : parse(text, createRejectingSchema(schema, validations), settings);
  return { attempts: result.status === 'failed' ? result.attempts : [], validations };
}

/** Without a schema other rules apply, so a normalizer rejects the value instead of a schema. */
function rejectValue(): never {
  throw new Error('rejected');
}

function createRejectingSchema(schema: StandardSchema, validations: StandardResult<unknown>[]): StandardSchema {
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      validate(value) {
        const validation = schema['~standard'].validate(value);
        // All schemas in the workbench are synchronous.
        if (!(validation instanceof Promise)) validations.push(validation);
        return { issues: [{ message: 'rejected' }] };
      },
    },
  };
}

function isSameCandidate(one: Candidate, other: Candidate): boolean {
  return one.finder === other.finder && one.start === other.start;
}

function explainSelection({ repairs, alignment }: ParseSuccess<unknown>): string {
  if (alignment.length > 0) return 'SELECTED_ALIGNED';
  if (repairs.some(({ kind }) => kind === 'truncated')) return 'SELECTED_PART';
  return 'SELECTED_BEST';
}

function describeIssues(issues: readonly Readonly<{ message: string; path?: readonly unknown[] | undefined }>[]) {
  const messages = issues
    .slice(0, 3)
    .map(({ path = [], message }) => `${path.map(String).join('.')} ${message}`.trim());
  return messages.join('; ') + (issues.length > 3 ? `; … +${issues.length - 3}` : '');
}

export type Suggestion = Readonly<{
  name: 'partial' | 'align' | 'both' | 'last' | 'profile';
  changes: Partial<WorkbenchOptions>;
}>;

/** Longer input gets no suggestions, because each is verified by parsing the input again. */
const MAX_TRIED_LENGTH = 200_000;

const PARTIAL: Suggestion = { name: 'partial', changes: { allowPartial: true } };
const ALIGN: Suggestion = { name: 'align', changes: { align: true } };
const BOTH: Suggestion = { name: 'both', changes: { allowPartial: true, align: true } };
const LAST: Suggestion = { name: 'last', changes: { ambiguous: 'last' } };
const PROFILE: Suggestion = { name: 'profile', changes: { profile: 'default' } };

/** Finds the option changes that lead to a value after a failure, by parsing the input with each of them. */
export function suggestOptions(
  text: string,
  schema: AlignableSchema | undefined,
  options: WorkbenchOptions,
  result: ParseResult<unknown>,
): readonly Suggestion[] {
  if (result.ok || text.length > MAX_TRIED_LENGTH) return [];
  const helps = ({ changes }: Suggestion): boolean => {
    const next = { ...options, ...changes };
    if (JSON.stringify(next) === JSON.stringify(options)) return false;
    return parse(text, schema, toParseOptions(next, schema)).ok;
  };
  const single = [PARTIAL, ...(schema === undefined ? [] : [ALIGN]), LAST, PROFILE].filter(helps);
  return single.length > 0 || schema === undefined ? single : [BOTH].filter(helps);
}
