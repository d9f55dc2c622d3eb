import type { Candidate } from './candidate.js';
import { ParseError, type ParseErrorCode } from './parse-error.js';
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
}

/** From the nearest stage to the furthest: the error tells how far the best candidate came. */
const STAGES = [
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
  let furthest: FailedAttempt = { code: 'NO_JSON', message: 'the text holds no JSON' };
  for (const attempt of failed) {
    if (failed.length === 1 || STAGES.indexOf(attempt.code) > STAGES.indexOf(furthest.code)) furthest = attempt;
  }
  const attempts = failed.flatMap(({ candidate, code, message }) =>
    candidate === undefined ? [] : [{ candidate, code, message }],
  );
  const { code, message, candidate: _, ...details } = furthest;
  const others = attempts.length > 1 ? ` (best of ${attempts.length} candidates)` : '';
  const error = new ParseError(code, `${label === undefined ? '' : `${label}: `}${message}${others}`, {
    ...details,
    attempts,
  });
  return { ok: false, status: 'failed', error, repairLevel: 'none', warnings: [], attempts };
}
