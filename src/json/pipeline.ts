import { isOtherIntended, type Choice } from './choice.js';
import { findDispute, type Dispute } from './dispute.js';
import { ALIGNED, COMPLETED, MAX_ALTERNATIVES, TEXT, WORDS } from './bounds.js';
import { BracketWalker } from './find/bracket-walker.js';
import {
  findCandidates,
  findRivals,
  findWords,
  readWhole,
  type FoundCandidate,
  type RejectedValue,
} from './candidates.js';
import { findInexactNumber, findSuspectEscape, isAlternative, isContainer } from './limits.js';
import { removeNoise } from './find/noise.js';
import type { Candidate } from './find/spans.js';
import type { Region } from './find/survey.js';
import type { ParseOptions, TextInput } from './options.js';
import { resolveSettings, type SearchSettings } from './read-span.js';
import type { ReadValue } from './reader/reader.js';
import { CUT_OFF } from './reader/source.js';
import { createRepair, type Repair } from './repair.js';
import {
  describeMismatch,
  describeUnreadable,
  failWith,
  makeSerializable,
  refuseRepaired,
  NO_TAG,
  decodeInput,
  type Rejection,
  type FailedAttempt,
  type ParseResult,
  type Warning,
} from './result.js';
import {
  isEcho,
  type Aligner,
  type Alignment,
  type AlignmentChange,
  type SchemaIssue,
  type StandardSchema,
} from './schema.js';

/** The result of checking a value with the schema. */
export type CheckResult = { readonly value: unknown } | { readonly issues: readonly SchemaIssue[] };

/** The rounds of a search; each starts only if the previous round found nothing. */
const ROUNDS = [0, COMPLETED, ALIGNED, COMPLETED | ALIGNED, ALIGNED | WORDS, ALIGNED | WORDS | TEXT];

/** A search for the value: its input, and its findings so far. */
interface Search {
  readonly raw: string;
  readonly schema: StandardSchema | undefined;
  readonly settings: SearchSettings;
  readonly options: ParseOptions;
  readonly align: Aligner | undefined;
  /** Repairs made before the search. */
  readonly repairs: readonly Repair[];
  /** Candidates of the first round, which later rounds examine again. */
  readonly seen: FoundCandidate[];
  readonly failed: FailedAttempt[];
  readonly rejected: RejectedValue[];
}

/** A candidate that was read: its value, and the reason it was rejected, if any. */
interface ExaminedCandidate {
  readonly found: FoundCandidate;
  readonly reading: ReadValue;
  readonly value: unknown;
  readonly changes: readonly AlignmentChange[];
  readonly rejection: Rejection | undefined;
}

/** A pipeline stage: yields values for its caller to check, and returns its findings. */
type PipelineStage<T> = Generator<unknown, T, CheckResult>;

/**
 * The whole pipeline from input to value, as a generator that yields values for its caller to check, so the same code
 * supports synchronous and asynchronous schemas.
 */
export function* runPipeline(
  input: TextInput,
  schema: StandardSchema | undefined,
  align: Aligner | undefined,
  options: ParseOptions,
): PipelineStage<ParseResult<unknown>> {
  const settings = resolveSettings(options, schema !== undefined);
  const raw = decodeInput(input, settings.limits);
  if (typeof raw !== 'string') return failWith([raw], options.label);
  const search: Search = { raw, schema, settings, options, align, repairs: [], seen: [], failed: [], rejected: [] };
  const isDefault = settings.profile === 'default';
  const whole = isDefault ? readWhole(raw, settings) : null;
  const strict = whole?.read();
  // Valid JSON without a schema needs no search: half the overhead.
  const isDone = whole && strict?.ok && !schema && !options.normalizers;
  let result = isDone ? succeed(search, prepare(search, whole, strict, 0)) : yield* searchText(search, whole);
  // Readable input has no noise to remove, except that CDATA brackets can be read as lists.
  const wasRead = result.status !== 'failed' || (result.error.code === 'SCHEMA_MISMATCH' && !raw.includes('<![CDATA['));
  const clean = wasRead || !isDefault ? raw : removeNoise(raw);
  if (clean !== raw) {
    const repairs = [createRepair('noise', 0)];
    const cleaned: Search = { ...search, raw: clean, repairs, seen: [], failed: [], rejected: [] };
    const second = yield* searchText(cleaned, readWhole(clean, settings));
    // Offsets in the cleaned input do not apply to the original.
    if (second.ok)
      result = {
        ...second,
        repairs: second.repairs.map(({ kind }) => createRepair(kind, 0)),
        warnings: second.warnings.map(({ offset: _, ...warning }) => warning),
        candidate: { ...second.candidate, start: 0, end: raw.length },
      };
  }
  if (options.accept === 'clean' && result.ok) result = refuseRepaired(result, options.label);
  return settings.numbers === 'bigint' && result.ok ? makeSerializable(result) : result;
}

/**
 * Searches one input, round by round. The first round finds the candidates, and records the failed ones for later
 * rounds and for the error; later rounds examine the same candidates again.
 */
function* searchText(search: Search, whole: FoundCandidate | null): PipelineStage<ParseResult<unknown>> {
  const { raw, settings, options, align, seen, failed, rejected } = search;
  const { profile, limits } = settings;
  for (const round of ROUNDS) {
    if ((round & COMPLETED && !options.allowPartial) || (round & ALIGNED && !align)) continue;
    const isFirst = round === 0;
    const isWords = (round & WORDS) > 0;
    // A looser reading would take the ellipsis for an item.
    if (isWords && seen.some(({ read }) => read().isElided)) break;
    const candidates = isFirst
      ? findCandidates(raw, settings, rejected, whole)
      : isWords
        ? findWords(raw, profile)
        : seen;
    for (const found of candidates) {
      if (isFirst && seen.length >= limits.candidates) {
        failed.push({
          code: 'LIMIT_EXCEEDED',
          message: `The text has more than ${seen.length} candidates (limits.candidates).`,
        });
        break;
      }
      if (isFirst) seen.push(found);
      const examined = yield* attempt(search, found, round);
      if (!examined) {
        const unread = found.read();
        // Input that does not even start like a value does not count as an attempt: it is probably just prose.
        if (isFirst && !unread.ok && (unread.plausible || unread.failure.code !== 'SYNTAX')) {
          const candidate = { finder: found.finder, start: found.start, end: Math.max(unread.end, found.start) };
          failed.push({ ...describeUnreadable(unread.failure), candidate });
        }
        continue;
      }
      const { rejection, changes, reading, value } = examined;
      if (!rejection) {
        // After JSON was tried and failed, the plain input would pass wherever the schema accepts a string.
        if (isWords && changes.length === 0 && (round & TEXT || failed.length > 0)) continue;
        const isUnambiguous = isWords || round & COMPLETED || found.finder === 'whole';
        return isUnambiguous
          ? succeed(search, examined)
          : yield* checkAlternatives(search, examined, candidates, round);
      }
      if (isFirst) {
        failed.push({ ...rejection, value, candidate: locateCandidate(examined) });
        // It might be an envelope around the answer.
        if (rejection.code === 'SCHEMA_MISMATCH') rejected.push({ value: reading.value, candidate: found });
      }
      // In this profile the first readable candidate is final.
      if (profile === 'unified') break;
    }
  }
  if (profile !== 'tagged' || seen.length > 0) return failWith(failed, options.label);
  return {
    ok: false,
    status: 'comment',
    comment: raw,
    repairLevel: 'none',
    warnings: [{ code: 'OUTPUT_DEGRADED_TO_COMMENT', message: NO_TAG }],
  };
}

/**
 * Examines the candidates after the first that passes. Returns the intended value with a warning if others pass too, or
 * `AMBIGUOUS` if nothing decides between them. The profiles of the sources choose by their own rules and only warn.
 */
function* checkAlternatives(
  search: Search,
  first: ExaminedCandidate,
  candidates: Iterable<FoundCandidate>,
  round: number,
): PipelineStage<ParseResult<unknown>> {
  const { raw, options, settings } = search;
  const isFree = settings.profile === 'default';
  let winner = first;
  /** Different values that nothing decides against. */
  let rivals: ExaminedCandidate[] = [];
  let alternativeOffset: number | undefined;
  let examinedCount = 0;
  const others = [...search.seen];
  for (const found of isFree ? candidates : findRivals(raw, settings)) {
    const location = locateCandidate(winner);
    const isOtherFinder = isFree && !isOpen(first.found) && found.finder !== first.found.finder;
    if (++examinedCount > MAX_ALTERNATIVES || (isOtherFinder && round === 0)) break;
    const isInside = found.start >= location.start && found.start < location.end;
    // An envelope can contain several answers, such as two tool calls.
    if (isOtherFinder || (isInside && found.finder !== 'envelope')) continue;
    others.push(found);
    // If words show that it is the intended value, it may need alignment even though the winner does not.
    const isIntended = isFree && isOtherIntended(raw, location, found, true);
    const examined = yield* attempt(search, found, isIntended && search.align ? ALIGNED : round);
    const unread = found.read();
    // What replaces the winner cannot be read, so nothing is left.
    if (isIntended && !unread.ok && unread.plausible)
      return failWith([describeUnreadable(unread.failure)], options.label);
    if (examined?.rejection?.code === 'SCHEMA_MISMATCH')
      search.rejected.push({ value: examined.reading.value, candidate: found });
    if (!examined || examined.rejection) continue;
    const isDifferent = isAlternative(examined.value, winner.value);
    if (isDifferent) alternativeOffset ??= found.start;
    if (!isFree && isDifferent) break;
    const choice = isInside ? undefined : choose(search, location, examined);
    if (isDifferent && choice === undefined) rivals.push(examined);
    // The same value again, in words that decide, wins too.
    if (isDifferent && !choice) continue;
    if (isDifferent) [winner, alternativeOffset] = [examined, location.start];
    rivals = rivals.filter(
      (rival) => isAlternative(rival.value, examined.value) && !choose(search, locateCandidate(rival), examined),
    );
  }
  const missedItem = isFree ? findMissedItem(search, winner, others) : undefined;
  if (rivals.length === 0 && missedItem === undefined)
    return isFree ? succeedUndisputed(search, winner, alternativeOffset) : succeed(search, winner, alternativeOffset);
  const contenders = [winner, ...rivals].sort((left, right) => left.found.start - right.found.start);
  const { ambiguous = 'fail' } = options;
  if (ambiguous !== 'fail') {
    const preferred = contenders.at(ambiguous === 'first' ? 0 : -1) ?? winner;
    return succeed(search, preferred, alternativeOffset ?? missedItem);
  }
  return failWith(
    contenders.map((contender) => ({
      code: 'AMBIGUOUS',
      message: `Different values pass, and nothing decides (offset ${alternativeOffset ?? missedItem}).`,
      candidate: locateCandidate(contender),
    })),
    options.label,
  );
}

/**
 * Returns the value that passes, unless the words around it say that it does not hold. If other values pass too, only
 * words that take the last of them back count.
 */
function succeedUndisputed(search: Search, winner: ExaminedCandidate, alternative?: number): ParseResult<unknown> {
  const { raw, options } = search;
  const candidate = locateCandidate(winner);
  const isLast = (alternative ?? -1) < candidate.start;
  const isDisputable = isLast && (isOpen(winner.found) || candidate.finder === 'tag');
  const found = isDisputable ? findDispute(raw, candidate) : undefined;
  const dispute = alternative === undefined || found?.isDenied ? found : undefined;
  const isRefused = options.ambiguous === undefined ? dispute?.isDenied : options.ambiguous === 'fail';
  if (!dispute || !isRefused) return succeed(search, winner, alternative, dispute);
  const message = `${dispute.message} (offset ${candidate.start}).`;
  return failWith([{ code: 'AMBIGUOUS', message, value: winner.value, candidate }], options.label);
}

/** Offset of a value that could be another item of the winning list, unless the list was collected from all values. */
function findMissedItem(
  { raw, align }: Search,
  winner: ExaminedCandidate,
  others: readonly FoundCandidate[],
): number | undefined {
  if (winner.changes.some(({ rule }) => rule.endsWith('to_list'))) return undefined;
  const location = locateCandidate(winner);
  return align?.findItem?.(
    winner.value,
    others.filter((other) => isOtherIntended(raw, location, other, true) === undefined),
  );
}

/** Decides between two values: by position for tags and lines, of which the last counts, otherwise by the words around. */
function choose({ raw, options }: Search, winner: Region, other: ExaminedCandidate): Choice {
  if (isOpen(other.found) || other.found.finder === 'envelope')
    return isOtherIntended(raw, winner, locateCandidate(other));
  return options.ambiguous === 'first' ? undefined : false;
}

/** Aligns, normalizes and checks a candidate's value; undefined if it has no value that this round accepts. */
function* attempt(search: Search, found: FoundCandidate, round: number): PipelineStage<ExaminedCandidate | undefined> {
  const { settings, align } = search;
  const reading = found.read();
  if ((!reading.ok && !(round & COMPLETED && 'value' in reading)) || isEcho(reading.value, search.schema))
    return undefined;
  const examined = prepare(search, found, reading, round);
  if (isEcho(examined.value, search.schema)) return undefined;
  if (examined.rejection || !settings.hasSchema) return examined;
  // A truncated word that could have become a different word is not a usable value.
  const mayGrow = !reading.ok && align?.mayGrow?.(examined.value, search.raw.slice(0, reading.end));
  const checked: CheckResult = mayGrow ? { issues: [] } : yield examined.value;
  if ('value' in checked) return { ...examined, value: checked.value };
  const text = search.raw.slice(found.start, reading.end);
  const shortened = reading.ok ? undefined : dropLastItem(examined.value, checked.issues, text);
  const second = shortened === undefined ? checked : yield shortened;
  if ('value' in second) return { ...examined, value: second.value };
  return { ...examined, rejection: describeMismatch('The value', checked.issues) };
}

/**
 * The value without the unfinished last list item of truncated input, if all issues are about that item. Closed items
 * are kept.
 */
function dropLastItem(value: unknown, issues: readonly SchemaIssue[], text: string): unknown {
  const copy = structuredClone(value);
  const open = new BracketWalker(text).depthAt(text.length);
  let list: unknown[] | undefined;
  let part = copy;
  for (let depth = 0; isContainer(part) && depth < open - 1; depth++) {
    const key = Object.keys(part).at(-1) ?? '';
    if (!issues.every(({ path }) => String(path[depth]) === key)) break;
    if (Array.isArray(part)) list = part;
    part = part[key];
  }
  return list?.pop() === undefined ? undefined : copy;
}

/** Aligns a value, checks its root and runs the normalizers. */
function prepare(search: Search, found: FoundCandidate, reading: ReadValue, round: number): ExaminedCandidate {
  const { settings, options, align, raw } = search;
  const { normalizers = [] } = options;
  const needsCopy = normalizers.length > 0 || align !== undefined || found.level > 0;
  // Normalizers and schemas may mutate their input, and later rounds reuse the parsed value, so they get a copy.
  const input = needsCopy && isContainer(reading.value) ? structuredClone(reading.value) : reading.value;
  const unaligned: Alignment = { value: input, changes: [] };
  const aligned =
    round & TEXT
      ? align?.readText?.(String(input))
      : round & ALIGNED
        ? align?.align(input, { text: raw, start: found.start, end: found.end, candidates: search.seen })
        : undefined;
  let { value } = aligned ?? unaligned;
  const { changes } = aligned ?? unaligned;
  let rejection: Rejection | undefined = align?.findGap?.(value);
  if (settings.profile === 'unified' && (!isContainer(value) || Array.isArray(value))) {
    rejection = { code: 'ROOT_NOT_OBJECT', message: 'The root must be an object.' };
  } else {
    try {
      for (const normalizer of normalizers) value = normalizer(value);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      // The error shows the parsed value: normalizers may have changed their input.
      value = reading.value;
      rejection = { code: 'NORMALIZER_FAILED', message: `A normalizer failed: ${reason}`, cause };
    }
  }
  return { found, reading, value, changes, rejection };
}

/** Builds the result. `alternativeOffset`: the offset of another candidate that also passes, with a different value. */
function succeed(
  search: Search,
  winner: ExaminedCandidate,
  alternativeOffset?: number,
  dispute?: Dispute,
): ParseResult<unknown> {
  const { found, reading, value, changes } = winner;
  const candidate = locateCandidate(winner);
  const isExtracted = !found.untouched && reading.repairs[0]?.kind !== 'extracted';
  const extraction = isExtracted ? [createRepair('extracted', candidate.start)] : [];
  const repairs = [...search.repairs, ...extraction, ...reading.repairs];
  const warnings: Warning[] = [];
  const warn = (code: Warning['code'], message: string, location?: Pick<Warning, 'offset' | 'path'>): void => {
    warnings.push({ code, message, ...location });
  };
  const last = repairs.at(-1);
  if (last) warn('OUTPUT_REPAIRED_GENERIC', `Repairs: ${[...new Set(repairs.map(({ kind }) => kind))].join(', ')}.`);
  if (changes.length > 0) warn('OUTPUT_ALIGNED_TO_SCHEMA', `Changes to fit the schema: ${changes.length}.`);
  if (last?.kind === 'truncated') warn('PARTIAL_VALUE', `${CUT_OFF}.`, { offset: last.offset });
  warnings.push(...reading.duplicates);
  const path = reading.isExact ? undefined : findInexactNumber(reading.value, search.raw);
  if (path) warn('INEXACT_NUMBER', 'A number is too large to be exact.', { path });
  const suspect = findSuspectEscape(reading.value, search.raw);
  if (suspect) warn('SUSPECT_ESCAPE', '\\b or \\f might be a backslash.', { path: suspect });
  if (alternativeOffset !== undefined)
    warn('AMBIGUOUS_CANDIDATES', 'A different value also passes.', { offset: alternativeOffset });
  if (dispute) warn('ANSWER_DISPUTED', `${dispute.message}.`, { offset: candidate.start });
  const repairLevel = changes.length > 0 ? 'schema_aligned' : repairs.length > 0 ? 'deterministic_generic' : 'none';
  return { ok: true, status: 'success', value, repairLevel, repairs, alignment: changes, warnings, candidate };
}

function locateCandidate({ found, reading }: ExaminedCandidate): Candidate {
  const { finder, start, end } = found;
  return { finder, start, end: isOpen(found) ? reading.end : end };
}

/** Whether the reader determines where a candidate ends; other values can then follow it. */
function isOpen({ finder }: FoundCandidate): boolean {
  return finder === 'fence' || finder === 'prose';
}
