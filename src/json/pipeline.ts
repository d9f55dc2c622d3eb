import type { Alignment, AlignmentChange } from './alignable-schema.js';
import type { Candidate } from './candidate.js';
import { deepEqual } from './deep-equal.js';
import { failureOf, NO_TAG, refusalOf, type FailedAttempt } from './failure.js';
import { isContainer } from './limits.js';
import type { ParseOptions } from './parse-options.js';
import type { ParseResult } from './parse-result.js';
import { findSpokenText } from './profiles/default-candidates.js';
import { findCandidates } from './profiles/find-candidates.js';
import type { FoundCandidate, RejectedValue } from './profiles/found-candidate.js';
import type { Reading } from './reader/read-value.js';
import { CUT_OFF } from './reader/source.js';
import { repairAt, type Repair, type RepairKind } from './repair.js';
import { resolveSettings } from './search-settings.js';
import type { SchemaIssue } from './standard-schema.js';
import type { Warning } from './warning.js';

/** The schema's answer. */
export type CheckAnswer = { readonly value: unknown } | { readonly issues: readonly SchemaIssue[] };

/** Brings a value into the schema's shape; there is one only where it was asked for. */
export type Aligner = (value: unknown) => Alignment;

type Success = Reading & { readonly ok: true };
type Outcome =
  | {
      readonly passed: true;
      readonly value: unknown;
      readonly reading: Success;
      readonly changes: readonly AlignmentChange[];
    }
  | { readonly passed: false; readonly attempt: FailedAttempt | undefined };
/** Code that may ask the schema about values on its way to a result; the caller answers, at once or later. */
type Asking<T> = Generator<unknown, T, CheckAnswer>;

/** Candidates looked at behind a winner that may not be the only one. */
const MOST_RIVALS = 32;

/**
 * The whole way from text to value, as a generator that asks its caller to check values, so that one pipeline serves
 * schemas that answer at once and those that answer later.
 *
 * Rounds over all candidates: as they are; completed where the text was cut (`allowPartial`); aligned (`align`).
 */
export function* runPipeline(
  raw: string,
  hasSchema: boolean,
  align: Aligner | undefined,
  options: ParseOptions,
): Asking<ParseResult<unknown>> {
  const settings = resolveSettings(options, hasSchema);
  const { limits, profile } = settings;
  const { label, allowPartial = false, normalizers = [] } = options;
  const refusal = refusalOf(raw, limits);
  if (refusal !== undefined) return failureOf([refusal], label);
  const failed: FailedAttempt[] = [];
  const rejected: RejectedValue[] = [];
  const seen: FoundCandidate[] = [];
  const candidates = findCandidates(raw, settings, options.prefer, rejected);
  for (const found of candidates) {
    if (seen.length >= limits.candidates) {
      failed.push({
        code: 'LIMIT_EXCEEDED',
        message: `none of the first ${seen.length} candidates passed; limits.candidates allows no more`,
      });
      break;
    }
    seen.push(found);
    const outcome = yield* attempt(found, false, false);
    if (outcome.passed) return yield* succeed(found, outcome, candidates);
    if (outcome.attempt !== undefined) failed.push(outcome.attempt);
    // There the first text that can be read decides.
    if (profile === 'unified' && outcome.attempt !== undefined && 'value' in outcome.attempt) break;
  }
  for (const [truncation, aligns] of [
    [true, false],
    [false, true],
    [true, true],
  ] as const) {
    if ((truncation && !allowPartial) || (aligns && align === undefined)) continue;
    for (const found of seen) {
      const outcome = yield* attempt(found, truncation, aligns);
      if (outcome.passed) return yield* succeed(found, outcome, []);
    }
  }
  for (const found of align !== undefined && profile === 'default' ? findSpokenText(raw) : []) {
    const outcome = yield* attempt(found, false, true);
    // Where JSON was tried and failed, its bare text would pass for an answer wherever the schema takes a string.
    if (outcome.passed && (outcome.changes.length > 0 || failed.length === 0))
      return yield* succeed(found, outcome, []);
  }
  if (profile !== 'tagged' || seen.length > 0) return failureOf(failed, label);
  return {
    ok: false,
    status: 'comment',
    comment: raw,
    repairLevel: 'none',
    warnings: [{ code: 'OUTPUT_DEGRADED_TO_COMMENT', message: NO_TAG }],
  };

  /** Reads one candidate, checks its root, runs the normalizers, asks the schema. */
  function* attempt(found: FoundCandidate, truncation: boolean, aligns: boolean): Asking<Outcome> {
    const reading = found.read(truncation);
    if (!reading.ok) return { passed: false, attempt: unreadable(found, reading) };
    const alignment = aligns ? align?.(reading.value) : undefined;
    let value = alignment === undefined ? reading.value : alignment.value;
    const fail = (details: Omit<FailedAttempt, 'candidate' | 'value'>): Outcome => ({
      passed: false,
      attempt: { ...details, value, candidate: candidateOf(found, reading) },
    });
    if (profile === 'unified' && (!isContainer(value) || Array.isArray(value))) {
      return fail({ code: 'ROOT_NOT_OBJECT', message: 'the root must be an object' });
    }
    try {
      for (const normalizer of normalizers) value = normalizer(value);
    } catch (cause) {
      return fail({
        code: 'NORMALIZER_FAILED',
        message: `a normalizer failed: ${cause instanceof Error ? cause.message : String(cause)}`,
        cause,
      });
    }
    const answer: CheckAnswer = hasSchema ? yield value : { value };
    if ('value' in answer) return { passed: true, value: answer.value, reading, changes: alignment?.changes ?? [] };
    if (!truncation && !aligns) {
      // Read again where a normalizer may have changed it.
      const fresh = normalizers.length > 0 ? found.read(false) : reading;
      if (fresh.ok) rejected.push({ value: fresh.value, candidate: found });
    }
    return fail({
      code: 'SCHEMA_MISMATCH',
      message: `the value does not fit the schema: ${summarize(answer.issues)}`,
      issues: answer.issues,
    });
  }

  function* succeed(
    found: FoundCandidate,
    outcome: Outcome & { passed: true },
    rest: Iterable<FoundCandidate>,
  ): Asking<ParseResult<unknown>> {
    const { reading, value, changes } = outcome;
    const candidate = candidateOf(found, reading);
    const cutOut = !found.untouched && reading.repairs[0]?.kind !== 'extracted';
    const repairs = cutOut ? [repairAt('extracted', candidate.start), ...reading.repairs] : reading.repairs;
    const warnings: Warning[] = [];
    const warn = (code: Warning['code'], message: string, offset?: number): void => {
      warnings.push(offset === undefined ? { code, message } : { code, message, offset });
    };
    const kinds = repairs.length > 0 ? kindsOf(repairs) : undefined;
    if (kinds !== undefined) warn('OUTPUT_REPAIRED_GENERIC', `repaired: ${[...kinds.keys()].join(', ')}`);
    if (changes.length > 0) warn('OUTPUT_ALIGNED_TO_SCHEMA', `changes to fit the schema: ${changes.length}`);
    if (kinds?.has('truncated') === true) warn('PARTIAL_VALUE', CUT_OFF, kinds.get('truncated'));
    warnings.push(...reading.duplicates);
    const rival =
      found.finder === 'fence' || found.finder === 'prose' ? yield* findRival(value, candidate, rest) : undefined;
    if (rival !== undefined) warn('AMBIGUOUS_CANDIDATES', 'another value passes too', rival);
    const repairLevel = changes.length > 0 ? 'schema_aligned' : repairs.length > 0 ? 'deterministic_generic' : 'none';
    return { ok: true, status: 'success', value, repairLevel, repairs, alignment: changes, warnings, candidate };
  }

  /** Offset of another candidate that passes too, with another value of the same kind. */
  function* findRival(
    value: unknown,
    { start, end }: Candidate,
    rest: Iterable<FoundCandidate>,
  ): Asking<number | undefined> {
    let rivals = 0;
    for (const found of rest) {
      if (++rivals > MOST_RIVALS) return undefined;
      if (found.start >= start && found.start < end) continue;
      const outcome = yield* attempt(found, false, false);
      if (outcome.passed && Array.isArray(outcome.value) === Array.isArray(value) && !deepEqual(outcome.value, value))
        return found.start;
    }
    return undefined;
  }
}

/** The kinds of repairs, each with the offset of the first. */
function kindsOf(repairs: readonly Repair[]): ReadonlyMap<RepairKind, number> {
  const kinds = new Map<RepairKind, number>();
  for (const { kind, offset } of repairs) if (!kinds.has(kind)) kinds.set(kind, offset);
  return kinds;
}

/** A text that is not even the beginning of a value is no attempt: it may just be prose. */
function unreadable(
  found: FoundCandidate,
  { failure, plausible, end }: Reading & { ok: false },
): FailedAttempt | undefined {
  const { code, message, offset } = failure;
  if (!plausible && code === 'SYNTAX') return undefined;
  const { finder, start } = found;
  return { code, message: `${message} (offset ${offset})`, candidate: { finder, start, end: Math.max(end, start) } };
}

function candidateOf({ finder, start, end }: FoundCandidate, reading: Success): Candidate {
  return { finder, start, end: finder === 'fence' || finder === 'prose' ? reading.end : end };
}

/** The first few issues in words, as a model or a person would want to read them. */
function summarize(issues: readonly SchemaIssue[]): string {
  const shown = issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  return shown.join('; ') + (issues.length > 5 ? `; and ${issues.length - 5} more` : '');
}
