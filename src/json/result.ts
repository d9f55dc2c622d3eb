import { copyAsJson, SluiceError } from '../base/index.js';
import type { Candidate } from './find/spans.js';
import type { Limits } from './options.js';
import { PARSE_ERROR_CODES, ParseError, type Attempt, type ParseErrorCode } from './parse-error.js';
import type { ReadFailure } from './reader/source.js';
import type { Path, Repair } from './repair.js';
import type { AlignmentChange, SchemaIssue } from './schema.js';

/** Every warning a result can contain. A closed list: `docs/errors.md` explains each one. */
export const WARNING_CODES = [
  'OUTPUT_REPAIRED_GENERIC',
  'OUTPUT_ALIGNED_TO_SCHEMA',
  'OUTPUT_DEGRADED_TO_COMMENT',
  'AMBIGUOUS_CANDIDATES',
  'ANSWER_DISPUTED',
  'DUPLICATE_KEY',
  'INEXACT_NUMBER',
  'SUSPECT_ESCAPE',
  'PARTIAL_VALUE',
] as const;

/** One of {@link WARNING_CODES}. */
export type WarningCode = (typeof WARNING_CODES)[number];

/** Something the caller should know about a result that is otherwise fine. */
export interface Warning {
  readonly code: WarningCode;
  readonly message: string;
  readonly offset?: number;
  readonly path?: Path;
}

/** The kind of change the value needed: none, a syntax repair, or alignment to the schema. */
export type RepairLevel = 'none' | 'deterministic_generic' | 'schema_aligned';

/** A value that passed. */
export interface ParseSuccess<T> {
  readonly ok: true;
  readonly status: 'success';
  readonly value: T;
  readonly repairLevel: RepairLevel;
  readonly repairs: readonly Repair[];
  /** With `align`: the aligner's changes. */
  readonly alignment: readonly AlignmentChange[];
  readonly warnings: readonly Warning[];
  readonly candidate: Candidate;
}

/** No value: the error, and all attempts. */
export interface ParseFailure {
  readonly ok: false;
  readonly status: 'failed';
  readonly error: ParseError;
  readonly repairLevel: 'none';
  readonly warnings: readonly Warning[];
  readonly attempts: readonly Attempt[];
}

/** Profile `tagged` without any tag: the input itself, to show to a user. */
export interface ParseComment {
  readonly ok: false;
  readonly status: 'comment';
  readonly comment: string;
  readonly repairLevel: 'none';
  readonly warnings: readonly Warning[];
}

/** The result of `parse`: a value, a failure, or (profile `tagged` only) a comment. */
export type ParseResult<T> = ParseSuccess<T> | ParseFailure | ParseComment;

/** A candidate that was rejected, with everything that an error reports about it. */
export interface FailedAttempt {
  readonly code: ParseErrorCode;
  readonly message: string;
  readonly candidate?: Candidate;
  readonly issues?: readonly SchemaIssue[];
  readonly value?: unknown;
  readonly cause?: unknown;
}

/** The message for input without any tag in the profile `tagged`. */
export const NO_TAG = 'No <json> block found.';

/** Refuses a value that was changed; cutting it out of its text is not a change. */
export function refuseRepaired(result: ParseSuccess<unknown>, label: string | undefined): ParseResult<unknown> {
  const { value, candidate, alignment, repairs } = result;
  const kinds = new Set(repairs.map(({ kind }) => kind).filter((kind) => kind !== 'extracted'));
  if (kinds.size === 0 && alignment.length === 0) return result;
  const code = alignment.length > 0 ? 'SCHEMA_MISMATCH' : 'SYNTAX';
  const changes = alignment.length > 0 ? 'alignment' : [...kinds].join(', ');
  return failWith([{ code, message: `The value needs ${changes} (accept: 'clean').`, value, candidate }], label);
}

/**
 * Creates one error for all attempts, from the candidate that got furthest and is closest to the schema; the first in a
 * tie.
 */
export function failWith(failed: readonly FailedAttempt[], label?: string): ParseFailure {
  let furthest: FailedAttempt = failed[0] ?? { code: 'NO_JSON', message: 'No JSON found.' };
  for (const attempt of failed) if (rankStage(attempt) > rankStage(furthest)) furthest = attempt;
  const attempts = failed.flatMap(({ candidate, code, message }) => (candidate ? [{ candidate, code, message }] : []));
  const { code, message, candidate: _, ...details } = furthest;
  const last = attempts.length > 1 ? " or 'last'" : '';
  const advice =
    code === 'TRUNCATED'
      ? ' Raise the output limit, ask for less, or set allowPartial (--allow-partial).'
      : code === 'AMBIGUOUS'
        ? ` Ask again, or set ambiguous (--ambiguous) to 'first'${last} to take a value anyway.`
        : '';
  const others = attempts.length > 1 ? ` Candidates tried: ${attempts.length}.` : '';
  const error = new ParseError(code, `${label === undefined ? '' : `${label}: `}${message}${advice}${others}`, {
    ...details,
    attempts,
  });
  return { ok: false, status: 'failed', error, repairLevel: 'none', warnings: [], attempts };
}

/** Returns the input as a string, or why it cannot be read. Throws for a value that is neither a string nor bytes. */
export function decodeInput(raw: unknown, { bytes }: Required<Limits>): string | FailedAttempt {
  const isBytes = ArrayBuffer.isView(raw);
  const text: unknown = isBytes && raw.byteLength <= bytes ? new TextDecoder().decode(raw) : (raw ?? '');
  // Encoded only if the length is inconclusive.
  const isLong =
    typeof text === 'string'
      ? text.length > bytes || (text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes)
      : isBytes;
  if (isLong) return { code: 'LIMIT_EXCEEDED', message: `The text has more than ${bytes} bytes (limits.bytes).` };
  if (typeof text !== 'string') throw new SluiceError('INVALID_TEXT', 'The text must be a string or a Uint8Array.');
  return text.trim() === '' ? { code: 'EMPTY_INPUT', message: 'The text is empty.' } : text;
}

/**
 * The stage reached, reduced by the schema's issues: an issue in one field counts little, an issue about the whole
 * value a lot.
 */
function rankStage({ code, issues = [] }: FailedAttempt): number {
  return issues.reduce((rank, { path }) => rank - (path.length > 0 ? 1 : 99), 1e6 * PARSE_ERROR_CODES.indexOf(code));
}

/** Why a candidate was rejected. */
export type Rejection = Omit<FailedAttempt, 'candidate' | 'value'>;

export function describeUnreadable({ code, message, offset }: ReadFailure): Rejection {
  return { code, message: `${message} (offset ${offset}).` };
}

/**
 * Lets `JSON.stringify` serialize a result with bigints. `toJSON` is not enumerable, so the result can be compared and
 * copied as data.
 */
export function makeSerializable<T extends object>(result: T): T {
  return Object.defineProperty(result, 'toJSON', { value: () => copyAsJson({ ...result }) });
}

/** The details of a schema mismatch, with a message listing the first few issues. */
export function describeMismatch(subject: string, issues: readonly SchemaIssue[]): Rejection {
  const parts = issues.slice(0, 5).map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '));
  if (issues.length > 5) parts.push(`and ${issues.length - 5} more`);
  return { code: 'SCHEMA_MISMATCH', message: `${subject} does not match the schema: ${parts.join('; ')}.`, issues };
}
