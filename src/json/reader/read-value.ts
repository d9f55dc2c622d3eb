import type { Repair } from '../repair.js';
import type { Warning } from '../warning.js';
import { Reader } from './reader.js';
import type { ReaderPolicy } from './reader-policy.js';
import type { ReadFailure } from './source.js';

/** What reading a text gave: a value with the repairs it took, or the reason why there is none. */
export type Reading =
  | {
      readonly ok: true;
      readonly value: unknown;
      readonly repairs: readonly Repair[];
      readonly duplicates: readonly Warning[];
      /** Offset behind the last character that was read. */
      readonly end: number;
    }
  | { readonly ok: false; readonly failure: ReadFailure; readonly plausible: boolean; readonly end: number };

/** A value that took no repair. */
export function untouched(value: unknown, end: number): Reading {
  return { ok: true, value, repairs: [], duplicates: [], end };
}

/** A reading that gave no value although there seemed to be one. */
export function refused(
  code: ReadFailure['code'],
  message: string,
  offset: number,
  end: number,
): Reading & { ok: false } {
  return { ok: false, failure: { code, message, offset }, plausible: true, end };
}

/** Reads one value from `text`, whose first character stands at `offset` of the whole. */
export function readValue(text: string, offset: number, policy: ReaderPolicy): Reading {
  const reader = new Reader(policy, offset);
  reader.push(text);
  reader.end();
  const { failure, repairs } = reader.source;
  if (failure !== undefined) return { ok: false, failure, plausible: reader.structure.plausible, end: reader.offset };
  return {
    ok: true,
    value: reader.value,
    repairs,
    duplicates: reader.structure.builder.duplicates,
    end: reader.offset,
  };
}
