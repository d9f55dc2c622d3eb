import type { AlignmentChange } from './alignable-schema.js';
import type { Candidate } from './candidate.js';
import type { Attempt, ParseError } from './parse-error.js';
import type { Repair } from './repair.js';
import type { Warning } from './warning.js';

/** How far the text had to be changed: not at all, in its syntax, or towards the schema. */
export type RepairLevel = 'none' | 'deterministic_generic' | 'schema_aligned';

/** A value that passed. */
export interface ParseSuccess<T> {
  readonly ok: true;
  readonly status: 'success';
  readonly value: T;
  readonly repairLevel: RepairLevel;
  readonly repairs: readonly Repair[];
  /** With `align`: what the aligner changed. */
  readonly alignment: readonly AlignmentChange[];
  readonly warnings: readonly Warning[];
  readonly candidate: Candidate;
}

/** No value: why, and what was tried. */
export interface ParseFailure {
  readonly ok: false;
  readonly status: 'failed';
  readonly error: ParseError;
  readonly repairLevel: 'none';
  readonly warnings: readonly Warning[];
  readonly attempts: readonly Attempt[];
}

/** Profile `tagged` without any tag: the text itself, to be shown to a person. */
export interface ParseComment {
  readonly ok: false;
  readonly status: 'comment';
  readonly comment: string;
  readonly repairLevel: 'none';
  readonly warnings: readonly Warning[];
}

/** What `parse` returns: a value, a failure, or (profile `tagged` only) a comment. */
export type ParseResult<T> = ParseSuccess<T> | ParseFailure | ParseComment;
