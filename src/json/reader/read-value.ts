import type { Repair } from '../repair.js';
import type { Warning } from '../warning.js';
import { Reader } from './reader.js';
import type { ReaderPolicy } from './reader-policy.js';
import { CUT_OFF, type ReadFailure } from './source.js';

/** A value with the repairs it took. */
export interface ReadValue {
  readonly value: unknown;
  readonly repairs: readonly Repair[];
  readonly duplicates: readonly Warning[];
  /** Offset behind the last character that was read. */
  readonly end: number;
}

/** The reason why there is no value. */
interface Refusal {
  readonly ok: false;
  readonly failure: ReadFailure;
  /** Something speaks for JSON, although it could not be read. */
  readonly plausible: boolean;
  readonly end: number;
}

/** What reading a text gave: a value, a refusal, or both where the text was cut: the value as far as it came. */
export type Reading = (ReadValue & { readonly ok: true }) | (ReadValue & Refusal) | Refusal;

/** A value that took no repair. */
export function untouched(value: unknown, end: number): Reading {
  return { ok: true, value, repairs: [], duplicates: [], end };
}

/** A reading that gave no value although there seemed to be one. */
export function refused(code: ReadFailure['code'], message: string, offset: number, end: number): Refusal {
  return { ok: false, failure: { code, message, offset }, plausible: true, end };
}

/** Reads one value from `text`, whose first character stands at `offset` of the whole. */
export function readValue(text: string, offset: number, policy: ReaderPolicy): Reading {
  const reader = new Reader(policy, offset);
  reader.push(text);
  reader.end();
  const { source, structure, value } = reader;
  const { failure, repairs } = source;
  const { plausible, builder } = structure;
  const end = source.base + source.at;
  if (failure !== undefined) return { ok: false, failure, plausible, end };
  const read: ReadValue = { value, repairs, duplicates: builder.duplicates, end };
  const last = repairs.at(-1);
  if (last?.kind !== 'truncated') return { ok: true, ...read };
  return { ...refused('TRUNCATED', CUT_OFF, last.offset, end), plausible, ...read };
}
