import { findCandidates, findWords, type FoundCandidate, type RejectedValue } from './candidates.js';
import { isContainer } from './limits.js';
import type { Candidate } from './find/spans.js';
import type { ParseOptions } from './options.js';
import { resolveSettings, type SearchSettings } from './read-span.js';
import type { ReadValue } from './reader/reader.js';
import { CUT_OFF } from './reader/source.js';
import { repairAt, type RepairKind } from './repair.js';
import {
  describeMismatch,
  describeUnreadable,
  failWith,
  NO_TAG,
  refuseText,
  type Details,
  type FailedAttempt,
  type ParseResult,
  type Warning,
} from './result.js';
import type { AlignableSchema, Alignment, AlignmentChange, PlacedValue, SchemaIssue } from './schema.js';

/** The schema's answer. */
export type CheckAnswer = { readonly value: unknown } | { readonly issues: readonly SchemaIssue[] };

/** Brings a value into the schema's shape; there is one only where it was asked for. */
export type Aligner = AlignableSchema['~sluice'];

/** How the candidates are looked at. A round begins when the one before has found nothing. */
interface Round {
  readonly name: 'as written' | 'completed' | 'aligned' | 'completed and aligned' | 'words' | 'text';
  /** Takes values that were cut off, as far as they came. */
  readonly completes: boolean;
  readonly aligns: boolean;
}

const ROUNDS: readonly Round[] = [
  { name: 'as written', completes: false, aligns: false },
  { name: 'completed', completes: true, aligns: false },
  { name: 'aligned', completes: false, aligns: true },
  { name: 'completed and aligned', completes: true, aligns: true },
  // The words themselves, as a string. Where JSON was tried and failed, they would pass for an answer wherever the schema
  // takes a string: there something must have been aligned.
  { name: 'words', completes: false, aligns: true },
  // What the schema makes of the text where it is not JSON at all.
  { name: 'text', completes: false, aligns: true },
];

/** Candidates looked at behind a winner that may not be the only one. */
const MOST_RIVALS = 32;

/** One search for the value of a text: what it was given, and what it has seen so far. */
interface Search {
  readonly raw: string;
  readonly settings: SearchSettings;
  readonly options: ParseOptions;
  readonly align: Aligner | undefined;
  /** Candidates of the first round, which later rounds look at again. */
  readonly seen: FoundCandidate[];
  readonly failed: FailedAttempt[];
  readonly rejected: RejectedValue[];
}

/** A candidate that was read: what became of its value, and what speaks against it. */
interface Attempted {
  readonly found: FoundCandidate;
  readonly reading: ReadValue;
  readonly value: unknown;
  readonly changes: readonly AlignmentChange[];
  readonly objection: Details | undefined;
}

/** A part of the pipeline: asks its caller to check values, ends with what it found. */
type Checking<T> = Generator<unknown, T, CheckAnswer>;

/**
 * The whole way from text to value, as a generator that asks its caller to check values, so that one pipeline serves
 * schemas that answer at once and those that answer later.
 */
export function* runPipeline(
  raw: string,
  hasSchema: boolean,
  align: Aligner | undefined,
  options: ParseOptions,
): Checking<ParseResult<unknown>> {
  const settings = resolveSettings(options, hasSchema);
  const refusal = refuseText(raw, settings.limits);
  if (refusal !== undefined) return failWith([refusal], options.label);
  const search: Search = { raw, settings, options, align, seen: [], failed: [], rejected: [] };
  for (const round of ROUNDS) {
    if ((round.completes && options.allowPartial !== true) || (round.aligns && align === undefined)) continue;
    const result = yield* round.name === 'as written' ? searchText(search, round) : searchAgain(search, round);
    if (result !== undefined) return result;
  }
  if (settings.profile !== 'tagged' || search.seen.length > 0) return failWith(search.failed, options.label);
  return {
    ok: false,
    status: 'comment',
    comment: raw,
    repairLevel: 'none',
    warnings: [{ code: 'OUTPUT_DEGRADED_TO_COMMENT', message: NO_TAG }],
  };
}

/** The first round: finds the candidates, and notes for later rounds, and for the error, what did not pass. */
function* searchText(search: Search, round: Round): Checking<ParseResult<unknown> | undefined> {
  const { raw, settings, options, seen, failed, rejected } = search;
  const candidates = findCandidates(raw, settings, options.prefer, rejected);
  for (const found of candidates) {
    if (seen.length >= settings.limits.candidates) {
      failed.push({ code: 'LIMIT_EXCEEDED', message: `none passed within limits.candidates, ${seen.length}` });
      return undefined;
    }
    seen.push(found);
    const attempted = yield* attempt(search, found, round);
    if (attempted === undefined) {
      noteUnreadable(search, found);
    } else if (attempted.objection === undefined) {
      return isOpen(found) ? yield* searchRivals(search, attempted, candidates, round) : succeed(attempted);
    } else {
      failed.push({ ...attempted.objection, value: attempted.value, candidate: placeCandidate(attempted) });
      if (attempted.objection.code === 'SCHEMA_MISMATCH')
        rejected.push({ value: attempted.reading.value, candidate: found });
      // There the first text that can be read decides.
      if (settings.profile === 'unified') return undefined;
    }
  }
  return undefined;
}

/** A value from a fence or from prose need not be the only one: says where the first other one that passes stands. */
function* searchRivals(
  search: Search,
  winner: Attempted,
  candidates: Iterable<FoundCandidate>,
  round: Round,
): Checking<ParseResult<unknown>> {
  const { start, end } = placeCandidate(winner);
  let rivals = 0;
  for (const found of candidates) {
    if (++rivals > MOST_RIVALS) break;
    if (found.start >= start && found.start < end) continue;
    const attempted = yield* attempt(search, found, round);
    if (attempted === undefined) continue;
    if (attempted.objection !== undefined) {
      // It may be an envelope around another value.
      if (attempted.objection.code === 'SCHEMA_MISMATCH')
        search.rejected.push({ value: attempted.reading.value, candidate: found });
      if (search.settings.profile === 'unified') break;
    } else if (isRival(attempted.value, winner.value)) {
      return succeed(winner, found.start);
    }
  }
  return succeed(winner);
}

/** A later round: the first candidate that passes, changed as the round allows. */
function* searchAgain(search: Search, round: Round): Checking<ParseResult<unknown> | undefined> {
  const { raw, settings, seen, failed } = search;
  const isWords = round.name === 'words' || round.name === 'text';
  const words = isWords && settings.profile === 'default' ? findWords(raw, settings) : [];
  for (const found of isWords ? words : seen) {
    const attempted = yield* attempt(search, found, round);
    if (attempted === undefined) continue;
    if (attempted.objection !== undefined) {
      if (settings.profile === 'unified') return undefined;
    } else if (!isWords || attempted.changes.length > 0 || (round.name === 'words' && failed.length === 0)) {
      return succeed(attempted);
    }
  }
  return undefined;
}

/** Aligns, normalizes and checks the value of a candidate; undefined if it has none that the round takes. */
function* attempt(search: Search, found: FoundCandidate, round: Round): Checking<Attempted | undefined> {
  const { settings, align } = search;
  const { reading } = found;
  if (!reading.ok && !(round.completes && 'value' in reading)) return undefined;
  const attempted = prepare(search, found, reading, round);
  if (!reading.ok && align?.mayGoOn?.(attempted.value, search.raw.slice(0, reading.end)) === true) return undefined;
  if (attempted.objection !== undefined || !settings.hasSchema) return attempted;
  const answer = yield attempted.value;
  if ('value' in answer) return { ...attempted, value: answer.value };
  return { ...attempted, objection: describeMismatch('the value', answer.issues) };
}

/** Aligns a value, checks its root, runs the normalizers. */
function prepare(search: Search, found: FoundCandidate, reading: ReadValue, round: Round): Attempted {
  const { settings, options, align } = search;
  const { normalizers = [] } = options;
  const isKept = normalizers.length > 0 || align !== undefined || found.level > 0;
  // The reading stays with the candidate: normalizers and schemas that change what they are given get a copy.
  const own = isKept && isContainer(reading.value) ? structuredClone(reading.value) : reading.value;
  const { value: aligned, changes } = alignValue(search, found, own, round);
  let value = aligned;
  let objection: Details | undefined;
  if (settings.profile === 'unified' && (!isContainer(value) || Array.isArray(value))) {
    objection = { code: 'ROOT_NOT_OBJECT', message: 'the root must be an object' };
  } else {
    try {
      for (const normalizer of normalizers) value = normalizer(value);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      objection = { code: 'NORMALIZER_FAILED', message: `a normalizer failed: ${reason}`, cause };
    }
  }
  return { found, reading, value, changes, objection };
}

function alignValue(search: Search, { start, end }: Candidate, value: unknown, round: Round): Alignment {
  const { align, raw } = search;
  if (!round.aligns || align === undefined) return { value, changes: [] };
  if (round.name === 'text') return align.readText?.(String(value)) ?? { value, changes: [] };
  return align.align(value, { text: raw, start, end, values: () => placeValues(search) });
}

/** The values of the text, none inside another. What was found as a whole holds them all, or is the only one. */
function placeValues({ seen }: Search): PlacedValue[] {
  const placed: PlacedValue[] = [];
  const parts = seen.filter(({ finder, level }) => finder !== 'whole' && level === 0);
  for (const found of parts.toSorted((left, right) => left.start - right.start)) {
    const { start, reading } = found;
    const end = Math.max(isOpen(found) ? reading.end : found.end, start);
    const before = placed.at(-1);
    if (before !== undefined && start < before.end) continue;
    placed.push(reading.ok ? { start, end, value: reading.value } : { start, end });
  }
  return placed;
}

function noteUnreadable({ failed }: Search, { finder, start, reading }: FoundCandidate): void {
  // A text that is not even the beginning of a value is no attempt: it may just be prose.
  if (reading.ok || (!reading.plausible && reading.failure.code === 'SYNTAX')) return;
  const candidate = { finder, start, end: Math.max(reading.end, start) };
  failed.push({ ...describeUnreadable(reading.failure), candidate });
}

/** Another value of the same kind. */
function isRival(value: unknown, winner: unknown): boolean {
  return Array.isArray(value) === Array.isArray(winner) && !isSame(value, winner);
}

/** Whether two parsed values are the same JSON; depth is bounded by what the readers let through. */
function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (!isContainer(left) || !isContainer(right) || Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]))
  );
}

/** `rival`: offset of another candidate that passes too, with another value. */
function succeed(winner: Attempted, rival?: number): ParseResult<unknown> {
  const { found, reading, value, changes } = winner;
  const candidate = placeCandidate(winner);
  const cutOut = !found.untouched && reading.repairs[0]?.kind !== 'extracted';
  const repairs = cutOut ? [repairAt('extracted', candidate.start), ...reading.repairs] : reading.repairs;
  const warnings: Warning[] = [];
  const warn = (code: Warning['code'], message: string, place?: { readonly offset: number }): void => {
    warnings.push({ code, message, ...place });
  };
  const kinds: RepairKind[] = [];
  for (const { kind } of repairs) if (!kinds.includes(kind)) kinds.push(kind);
  const last = repairs.at(-1);
  if (repairs.length > 0) warn('OUTPUT_REPAIRED_GENERIC', `repaired: ${kinds.join(', ')}`);
  if (changes.length > 0) warn('OUTPUT_ALIGNED_TO_SCHEMA', `changes to fit the schema: ${changes.length}`);
  if (last?.kind === 'truncated') warn('PARTIAL_VALUE', CUT_OFF, { offset: last.offset });
  warnings.push(...reading.duplicates);
  if (rival !== undefined) warn('AMBIGUOUS_CANDIDATES', 'another value passes', { offset: rival });
  const repairLevel = changes.length > 0 ? 'schema_aligned' : repairs.length > 0 ? 'deterministic_generic' : 'none';
  return { ok: true, status: 'success', value, repairLevel, repairs, alignment: changes, warnings, candidate };
}

function placeCandidate({ found, reading }: Attempted): Candidate {
  const { finder, start, end } = found;
  return { finder, start, end: isOpen(found) ? reading.end : end };
}

/** Where it ends is for the reader to find out, and it need not be the only one. */
function isOpen({ finder }: FoundCandidate): boolean {
  return finder === 'fence' || finder === 'prose';
}
