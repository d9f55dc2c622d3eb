import type { Alignment, AlignmentChange } from './alignable-schema.js';
import type { Candidate } from './candidate.js';
import { deepEqual } from './deep-equal.js';
import { failureOf, mismatch, NO_TAG, refusalOf, unreadable, type Details, type FailedAttempt } from './failure.js';
import { isContainer } from './limits.js';
import type { Normalizer, ParseOptions, Profile } from './parse-options.js';
import type { ParseResult } from './parse-result.js';
import { findSpokenText } from './profiles/default-candidates.js';
import { findCandidates } from './profiles/find-candidates.js';
import type { FoundCandidate, RejectedValue } from './profiles/found-candidate.js';
import type { ReadValue } from './reader/read-value.js';
import { CUT_OFF } from './reader/source.js';
import { repairAt, type RepairKind } from './repair.js';
import { resolveSettings } from './search-settings.js';
import type { SchemaIssue } from './standard-schema.js';
import type { Warning } from './warning.js';

/** The schema's answer. */
export type CheckAnswer = { readonly value: unknown } | { readonly issues: readonly SchemaIssue[] };

/** Brings a value into the schema's shape; there is one only where it was asked for. */
export type Aligner = (value: unknown) => Alignment;

/** A candidate that was read: what became of its value, and what speaks against it. */
interface Attempted {
  readonly found: FoundCandidate;
  readonly reading: ReadValue;
  readonly value: unknown;
  readonly changes: readonly AlignmentChange[];
  readonly objection: Details | undefined;
}

/**
 * After every candidate as it is, completed, aligned, and both: the words themselves, aligned. Where JSON was tried and
 * failed, they would pass for an answer wherever the schema takes a string: there something must have been aligned.
 */
const LAST_ROUND = 4;
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
): Generator<unknown, ParseResult<unknown>, CheckAnswer> {
  const settings = resolveSettings(options, hasSchema);
  const { limits, profile } = settings;
  const { label, normalizers = [] } = options;
  const refusal = refusalOf(raw, limits);
  if (refusal !== undefined) return failureOf([refusal], label);
  const failed: FailedAttempt[] = [];
  const rejected: RejectedValue[] = [];
  const seen: FoundCandidate[] = [];
  let winner: Attempted | undefined;
  let rivals = 0;
  for (let round = 0; round <= LAST_ROUND; round++) {
    const isFirst = round === 0;
    const truncation = round % 2 === 1;
    const aligns = round > 1;
    if ((truncation && options.allowPartial !== true) || (aligns && align === undefined)) continue;
    const rest = round < LAST_ROUND ? seen : profile === 'default' ? findSpokenText(raw) : [];
    for (const found of isFirst ? findCandidates(raw, settings, options.prefer, rejected) : rest) {
      if (winner !== undefined) {
        if (++rivals > MOST_RIVALS) return successOf(winner);
        const { start, end } = candidateOf(winner);
        if (found.start >= start && found.start < end) continue;
      } else if (isFirst) {
        if (seen.length >= limits.candidates) {
          const message = `none passed within limits.candidates, ${seen.length}`;
          failed.push({ code: 'LIMIT_EXCEEDED', message });
          break;
        }
      }
      // What is aligned is read anew: a normalizer may have changed the value.
      const reading = (aligns ? undefined : found.first) ?? found.read();
      if (isFirst && winner === undefined) seen.push({ ...found, first: reading.ok ? undefined : reading });
      if (!reading.ok && !(truncation && 'value' in reading)) {
        const { failure, plausible, end } = reading;
        const { finder, start } = found;
        // A text that is not even the beginning of a value is no attempt: it may just be prose.
        if (isFirst && (plausible || failure.code !== 'SYNTAX'))
          failed.push({ ...unreadable(failure), candidate: { finder, start, end: Math.max(end, start) } });
        continue;
      }
      let attempted = prepare(found, reading, aligns ? align : undefined, profile, normalizers);
      if (attempted.objection === undefined && hasSchema) {
        const answer = yield attempted.value;
        if ('value' in answer) {
          attempted = { ...attempted, value: answer.value };
        } else {
          attempted = { ...attempted, objection: mismatch('the value', answer.issues) };
          // Read again where a normalizer may have changed it.
          const fresh = normalizers.length > 0 ? found.read() : reading;
          if (isFirst && fresh.ok) rejected.push({ value: fresh.value, candidate: found });
        }
      }
      const { value, changes, objection } = attempted;
      if (objection !== undefined) {
        if (isFirst) failed.push({ ...objection, value, candidate: candidateOf(attempted) });
        // There the first text that can be read decides.
        if (profile === 'unified') break;
      } else if (winner !== undefined) {
        if (isRival(value, winner.value)) return successOf(winner, found.start);
      } else if (round < LAST_ROUND || changes.length > 0 || failed.length === 0) {
        winner = attempted;
        if (!isFirst || !isOpen(found)) return successOf(winner);
      }
    }
    if (winner !== undefined) return successOf(winner);
  }
  if (profile !== 'tagged' || seen.length > 0) return failureOf(failed, label);
  return {
    ok: false,
    status: 'comment',
    comment: raw,
    repairLevel: 'none',
    warnings: [{ code: 'OUTPUT_DEGRADED_TO_COMMENT', message: NO_TAG }],
  };
}

/** Aligns a value, checks its root, runs the normalizers. */
function prepare(
  found: FoundCandidate,
  reading: ReadValue,
  align: Aligner | undefined,
  profile: Profile,
  normalizers: readonly Normalizer[],
): Attempted {
  const { value: aligned, changes }: Alignment = align?.(reading.value) ?? { value: reading.value, changes: [] };
  let value = aligned;
  let objection: Details | undefined;
  if (profile === 'unified' && (!isContainer(value) || Array.isArray(value))) {
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

/** Another value of the same kind. */
function isRival(value: unknown, winner: unknown): boolean {
  return Array.isArray(value) === Array.isArray(winner) && !deepEqual(value, winner);
}

/** `rival`: offset of another candidate that passes too, with another value. */
function successOf(winner: Attempted, rival?: number): ParseResult<unknown> {
  const { found, reading, value, changes } = winner;
  const candidate = candidateOf(winner);
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

function candidateOf({ found, reading }: Attempted): Candidate {
  const { finder, start, end } = found;
  return { finder, start, end: isOpen(found) ? reading.end : end };
}

/** Where it ends is for the reader to find out, and it need not be the only one. */
function isOpen({ finder }: FoundCandidate): boolean {
  return finder === 'fence' || finder === 'prose';
}
