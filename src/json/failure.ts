import type { Candidate } from './candidate.js';
import { exceedsBytes } from './limits.js';
import { PARSE_ERROR_CODES, ParseError, type ParseErrorCode } from './parse-error.js';
import type { Limits } from './parse-options.js';
import type { ParseFailure } from './parse-result.js';
import type { ReadFailure } from './reader/source.js';
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

/** What the profile `tagged` says of a text without any tag. */
export const NO_TAG = 'the text has no <json> block';

/** One error for all attempts: that of the candidate that came furthest, the first one of those. */
export function failureOf(failed: readonly FailedAttempt[], label?: string): ParseFailure {
  let furthest: FailedAttempt = failed[0] ?? { code: 'NO_JSON', message: 'the text holds no JSON' };
  for (const attempt of failed) if (stageOf(attempt) > stageOf(furthest)) furthest = attempt;
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

/** Everything that is wrong with a text before it is read. */
export function refusalOf(text: string, { bytes }: Required<Limits>): FailedAttempt | undefined {
  if (exceedsBytes(text, bytes))
    return { code: 'LIMIT_EXCEEDED', message: `the text is longer than limits.bytes, ${bytes}` };
  return text.trim() === '' ? { code: 'EMPTY_INPUT', message: 'the text is empty' } : undefined;
}

function stageOf({ code }: FailedAttempt): number {
  return PARSE_ERROR_CODES.indexOf(code);
}

/** What speaks against a candidate. */
export type Details = Omit<FailedAttempt, 'candidate' | 'value'>;

export function unreadable({ code, message, offset }: ReadFailure): Details {
  return { code, message: `${message} (offset ${offset})` };
}

/** The first few issues in words, as a model or a person would want to read them. */
export function mismatch(what: string, issues: readonly SchemaIssue[]): Details {
  const shown = issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  const more = issues.length > 5 ? `; and ${issues.length - 5} more` : '';
  return { code: 'SCHEMA_MISMATCH', message: `${what} does not fit the schema: ${shown.join('; ')}${more}`, issues };
}
