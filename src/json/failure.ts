import type { Candidate } from './candidate.js';
import { ParseError, type Attempt, type ParseErrorCode } from './parse-error.js';
import type { ParseFailure } from './parse-result.js';
import type { SchemaIssue } from './standard-schema.js';

/** A candidate that was not taken, with everything an error may need of it. */
export interface FailedAttempt {
  readonly code: ParseErrorCode;
  readonly message: string;
  readonly candidate?: Candidate;
  readonly issues?: readonly SchemaIssue[];
  readonly value?: unknown;
  readonly cause?: unknown;
  /** No other candidate is tried after this one. */
  readonly final?: boolean;
}

/** From the nearest stage to the furthest: the error tells how far the best candidate came. */
const STAGES: readonly ParseErrorCode[] = [
  'EMPTY_INPUT',
  'NO_JSON',
  'SYNTAX',
  'TRUNCATED',
  'ROOT_NOT_OBJECT',
  'SCHEMA_MISMATCH',
  'NORMALIZER_FAILED',
  'LIMIT_EXCEEDED',
];

/** One error for all attempts: that of the candidate that came furthest, the first one of those. */
export function failureOf(failed: readonly FailedAttempt[], label: string | undefined): ParseFailure {
  const furthest = failed.reduce<FailedAttempt | undefined>(
    (best, attempt) => (best === undefined || STAGES.indexOf(attempt.code) > STAGES.indexOf(best.code) ? attempt : best),
    undefined,
  ) ?? { code: 'NO_JSON', message: 'the text holds no JSON' };
  const attempts = failed.flatMap(({ candidate, code, message }): Attempt[] => (candidate === undefined ? [] : [{ candidate, code, message }]));
  const others = attempts.length > 1 ? ` (best of ${attempts.length} candidates)` : '';
  const error = new ParseError(furthest.code, `${label === undefined ? '' : `${label}: `}${furthest.message}${others}`, {
    attempts,
    ...(furthest.issues === undefined ? {} : { issues: furthest.issues }),
    ...('value' in furthest ? { value: furthest.value } : {}),
    ...(furthest.cause === undefined ? {} : { cause: furthest.cause }),
  });
  return { ok: false, status: 'failed', error, repairLevel: 'none', warnings: [], attempts };
}
