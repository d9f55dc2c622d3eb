import type { AlignmentChange } from './alignable-schema.js';
import type { Candidate } from './candidate.js';
import { deepEqual } from './deep-equal.js';
import { failureOf, type FailedAttempt } from './failure.js';
import type { FoundCandidate, RejectedValue } from './found-candidate.js';
import { exceedsBytes } from './limits.js';
import type { ParseOptions } from './parse-options.js';
import type { ParseResult } from './parse-result.js';
import { findCandidates } from './profiles/find-candidates.js';
import type { Reading } from './reader/read-value.js';
import type { Repair } from './repair.js';
import { resolveSettings, type SearchSettings } from './search-settings.js';
import type { SchemaIssue } from './standard-schema.js';
import type { Warning } from './warning.js';

/** A question to the schema; the caller answers it, at once or later. */
export interface Check {
  readonly value: unknown;
}

/** The schema's answer. */
export type CheckAnswer = { readonly value: unknown } | { readonly issues: readonly SchemaIssue[] };

/** What the pipeline needs to know about the schema. */
export interface SchemaPort {
  /** Undefined without `align`. */
  readonly align: ((value: unknown) => { readonly value: unknown; readonly changes: readonly AlignmentChange[] }) | undefined;
}

type Outcome =
  | { readonly ok: true; readonly value: unknown; readonly reading: Reading & { ok: true }; readonly changes: readonly AlignmentChange[] }
  | { readonly ok: false; readonly attempt: FailedAttempt | undefined };

/** Candidates looked at behind a winner that may not be the only one. */
const MOST_RIVALS = 32;

/**
 * The whole way from text to value, as a generator that asks its caller to check values, so that one pipeline serves
 * schemas that answer at once and those that answer later.
 *
 * Rounds over all candidates: as they are; completed where the text was cut (`allowPartial`); aligned (`align`).
 */
export function* runPipeline(raw: string, schema: SchemaPort | undefined, options: ParseOptions): Generator<Check, ParseResult<unknown>, CheckAnswer> {
  const settings = resolveSettings(options, schema !== undefined);
  if (exceedsBytes(raw, settings.limits.bytes)) {
    const message = `the text is longer than ${settings.limits.bytes} bytes; raise limits.bytes or shorten it`;
    return failureOf([{ code: 'LIMIT_EXCEEDED', message }], options.label);
  }
  if (raw.trim() === '') return failureOf([{ code: 'EMPTY_INPUT', message: 'the text is empty' }], options.label);
  return yield* new Pipeline(raw, schema, options, settings).run();
}

class Pipeline {
  private readonly raw: string;
  private readonly schema: SchemaPort | undefined;
  private readonly options: ParseOptions;
  private readonly settings: SearchSettings;
  private readonly failed: FailedAttempt[] = [];
  private readonly rejected: RejectedValue[] = [];
  private readonly seen: FoundCandidate[] = [];

  constructor(raw: string, schema: SchemaPort | undefined, options: ParseOptions, settings: SearchSettings) {
    this.raw = raw;
    this.schema = schema;
    this.options = options;
    this.settings = settings;
  }

  *run(): Generator<Check, ParseResult<unknown>, CheckAnswer> {
    const candidates = findCandidates(this.raw, this.settings, this.options.prefer, this.rejected);
    for (const found of candidates) {
      if (this.seen.length >= this.settings.limits.candidates) {
        this.failed.push({ code: 'LIMIT_EXCEEDED', message: `none of the first ${this.seen.length} candidates passed; raise limits.candidates` });
        break;
      }
      this.seen.push(found);
      const outcome = yield* this.attempt(found, false, false);
      if (outcome.ok) return yield* this.succeed(found, outcome, candidates);
      if (outcome.attempt !== undefined) this.failed.push(outcome.attempt);
      if (outcome.attempt?.final === true) break;
    }
    if (this.options.allowPartial === true) {
      const completed = yield* this.retry(true, false);
      if (completed !== undefined) return completed;
    }
    if (this.schema?.align !== undefined) {
      const aligned = (yield* this.retry(false, true)) ?? (this.options.allowPartial === true ? yield* this.retry(true, true) : undefined);
      if (aligned !== undefined) return aligned;
    }
    if (this.settings.profile === 'tagged' && this.seen.length === 0) return commentOf(this.raw);
    return failureOf(this.failed, this.options.label);
  }

  /** One more round over the candidates seen. */
  private *retry(truncation: boolean, align: boolean): Generator<Check, ParseResult<unknown> | undefined, CheckAnswer> {
    for (const found of this.seen) {
      const outcome = yield* this.attempt(found, truncation, align);
      if (outcome.ok) return yield* this.succeed(found, outcome, []);
    }
    return undefined;
  }

  private *attempt(found: FoundCandidate, truncation: boolean, align: boolean): Generator<Check, Outcome, CheckAnswer> {
    const reading = found.read(truncation);
    if (!reading.ok) return { ok: false, attempt: unreadable(found, reading) };
    let { value } = reading;
    if (this.settings.profile === 'unified' && (typeof value !== 'object' || value === null || Array.isArray(value))) {
      const message = 'the root must be an object';
      return { ok: false, attempt: { code: 'ROOT_NOT_OBJECT', message, candidate: candidateOf(found, reading), value, final: true } };
    }
    const changes: AlignmentChange[] = [];
    if (align && this.schema?.align !== undefined) {
      const alignment = this.schema.align(value);
      value = alignment.value;
      changes.push(...alignment.changes);
    }
    const normalized = this.normalize(value);
    if (!normalized.ok) {
      const { thrown, given } = normalized;
      const message = `a normalizer failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
      return { ok: false, attempt: { code: 'NORMALIZER_FAILED', message, candidate: candidateOf(found, reading), value: given, cause: thrown, final: this.isFinal } };
    }
    if (this.schema === undefined) return { ok: true, value: normalized.value, reading, changes };
    const answer = yield { value: normalized.value };
    if (!('issues' in answer)) return { ok: true, value: answer.value, reading, changes };
    if (!truncation && !align) this.reject(found, reading);
    const message = `the value does not fit the schema: ${summarize(answer.issues)}`;
    return { ok: false, attempt: { code: 'SCHEMA_MISMATCH', message, candidate: candidateOf(found, reading), value: normalized.value, issues: answer.issues, final: this.isFinal } };
  }

  /** In `unified` the first text that can be read decides. */
  private get isFinal(): boolean {
    return this.settings.profile === 'unified';
  }

  private normalize(value: unknown): { ok: true; value: unknown } | { ok: false; thrown: unknown; given: unknown } {
    let current = value;
    for (const normalizer of this.options.normalizers ?? []) {
      const given = current;
      try {
        current = normalizer(given);
      } catch (thrown) {
        return { ok: false, thrown, given };
      }
    }
    return { ok: true, value: current };
  }

  /** Remembers a value that did not pass; read again where a normalizer may have changed it. */
  private reject(found: FoundCandidate, reading: Reading & { ok: true }): void {
    const fresh = (this.options.normalizers ?? []).length > 0 ? found.read(false) : reading;
    if (fresh.ok) this.rejected.push({ value: fresh.value, candidate: found, level: found.level });
  }

  private *succeed(
    found: FoundCandidate,
    outcome: Outcome & { ok: true },
    rest: Iterable<FoundCandidate>,
  ): Generator<Check, ParseResult<unknown>, CheckAnswer> {
    const { reading, value, changes } = outcome;
    const candidate = candidateOf(found, reading);
    const repairs: Repair[] = [...reading.repairs];
    if (found.untouched !== true) {
      repairs.unshift({ kind: 'extracted', message: `cut the value out of the text around it (${found.finder})`, offset: candidate.start });
    }
    const warnings: Warning[] = [];
    if (repairs.length > 0) {
      const message = `the text was repaired before it could be read: ${[...new Set(repairs.map((repair) => repair.kind))].join(', ')}`;
      warnings.push({ code: 'OUTPUT_REPAIRED_GENERIC', message });
    }
    if (changes.length > 0) {
      warnings.push({ code: 'OUTPUT_ALIGNED_TO_SCHEMA', message: `the value was changed in ${changes.length} places to fit the schema` });
    }
    const cut = repairs.find((repair) => repair.kind === 'truncated');
    if (cut !== undefined) warnings.push({ code: 'PARTIAL_VALUE', message: 'the text was cut off; the value holds what had arrived', offset: cut.offset });
    warnings.push(...reading.duplicates);
    const rival = yield* this.findRival(found, value, candidate, rest);
    if (rival !== undefined) warnings.push(rival);
    const repairLevel = changes.length > 0 ? 'schema_aligned' : repairs.length > 0 ? 'deterministic_generic' : 'none';
    return { ok: true, status: 'success', value, repairLevel, repairs, alignment: changes, warnings, candidate };
  }

  /** Another candidate that passes too, with another value. */
  private *findRival(
    winner: FoundCandidate,
    value: unknown,
    span: Candidate,
    rest: Iterable<FoundCandidate>,
  ): Generator<Check, Warning | undefined, CheckAnswer> {
    if (winner.finder !== 'fence' && winner.finder !== 'prose') return undefined;
    let rivals = 0;
    for (const found of rest) {
      if (++rivals > MOST_RIVALS) return undefined;
      if (found.start < span.end && found.end > span.start && found.start >= span.start) continue;
      const outcome = yield* this.attempt(found, false, false);
      if (!outcome.ok || Array.isArray(outcome.value) !== Array.isArray(value) || deepEqual(outcome.value, value)) continue;
      const message = `another value that passes stands at offset ${found.start}; use prefer or a stricter schema to choose`;
      return { code: 'AMBIGUOUS_CANDIDATES', message, offset: found.start };
    }
    return undefined;
  }
}

function unreadable(found: FoundCandidate, reading: Reading & { ok: false }): FailedAttempt | undefined {
  const { failure, plausible, end } = reading;
  if (found.optional === true && !plausible && failure.code === 'SYNTAX') return undefined;
  return { code: failure.code, message: `${failure.message} (offset ${failure.offset})`, candidate: { finder: found.finder, start: found.start, end: Math.max(end, found.start) } };
}

function candidateOf(found: FoundCandidate, reading: Reading & { ok: true }): Candidate {
  const open = found.finder === 'fence' || found.finder === 'prose';
  return { finder: found.finder, start: found.start, end: open ? reading.end : found.end };
}

/** The first few issues in words, as a model or a person would want to read them. */
function summarize(issues: readonly SchemaIssue[]): string {
  const shown = issues.slice(0, 5).map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  return shown.join('; ') + (issues.length > shown.length ? `; and ${issues.length - shown.length} more` : '');
}

function commentOf(raw: string): ParseResult<unknown> {
  const message = 'the text has no <json> block; it is passed on as a comment';
  return { ok: false, status: 'comment', comment: raw, repairLevel: 'none', warnings: [{ code: 'OUTPUT_DEGRADED_TO_COMMENT', message }] };
}
