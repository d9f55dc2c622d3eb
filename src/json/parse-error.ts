import { SluiceError } from '../base/index.js';
import type { Candidate } from './find/spans.js';
import type { SchemaIssue } from './schema.js';

/**
 * The reasons why parsing can fail. If multiple candidates fail, the reason that comes last in this order is reported.
 * A closed list: `docs/errors.md` explains each.
 */
export const PARSE_ERROR_CODES = [
  'EMPTY_INPUT',
  'NO_JSON',
  'SYNTAX',
  'TRUNCATED',
  'ROOT_NOT_OBJECT',
  'SCHEMA_MISMATCH',
  'NORMALIZER_FAILED',
  'AMBIGUOUS',
  'REFUSED',
  'LIMIT_EXCEEDED',
] as const;

/** One of {@link PARSE_ERROR_CODES}. */
export type ParseErrorCode = (typeof PARSE_ERROR_CODES)[number];

/** A candidate that was tried, and the reason it was rejected. */
export interface Attempt {
  readonly candidate: Candidate;
  readonly code: ParseErrorCode;
  readonly message: string;
}

/** Details of a {@link ParseError} besides its message. */
export interface ParseErrorDetails {
  readonly issues?: readonly SchemaIssue[];
  readonly value?: unknown;
  readonly attempts: readonly Attempt[];
  readonly cause?: unknown;
}

/**
 * Input without a usable value: the failure of the candidate that got furthest, and all attempts.
 *
 * @example
 * const result = parse('{"line": 0}', schema)
 * if (!result.ok && result.status === 'failed') console.log(result.error.code, result.error.issues)
 */
export class ParseError extends SluiceError<ParseErrorCode> {
  override readonly name = 'ParseError';
  /** With `SCHEMA_MISMATCH`: the schema's issues, with their paths. */
  declare readonly issues?: readonly SchemaIssue[];
  /** The value that failed the schema or, if a normalizer threw, the parsed value before any normalizer. */
  declare readonly value?: unknown;
  declare readonly attempts: readonly Attempt[];
  /** With `generateAndParse`: the model's last answer. Not enumerable, to stay out of logs. */
  declare readonly raw?: string;

  constructor(code: ParseErrorCode, message: string, details: ParseErrorDetails) {
    super(code, message, details);
    Object.assign(this, details);
  }
}
