import type { Limits } from '../options.js';
import type { NumberMode } from './number.js';
import type { RepairSet } from '../repair.js';

/** A reader's rules for invalid JSON. */
export interface ReaderPolicy {
  /** The repairs it may make; if another one is needed, the reading ends with `SYNTAX`. */
  readonly repairs: RepairSet;
  /**
   * Accepts any unquoted text as a string, and `null` for a missing value. Otherwise anything that might be code or
   * prose is refused, and a key without a value is dropped.
   */
  readonly acceptsAnyText: boolean;
  /** Only white space and comments may follow the value; otherwise the reading ends where the value does. */
  readonly rootMustEnd: boolean;
  /** LaTeX commands are known to have single backslashes. */
  readonly formulas?: boolean;
  readonly numbers: NumberMode;
  readonly depth: number;
}

// The sets of repairs the pipeline chooses from. A truncated value is completed; the pipeline decides whether to use it.
export const NO_REPAIRS: RepairSet = () => false;
export const CONTROL_CHARACTERS: RepairSet = (kind) => kind === 'control_character';
export const ALL_REPAIRS: RepairSet = () => true;
export const REPAIRS_IN_PROSE: RepairSet = (kind) => kind !== 'unquoted_string';

/** Creates the policy used everywhere except in `repairJson`: nothing is added that is not in the input. */
export function createReaderPolicy(
  { numbers, limits }: { readonly numbers: NumberMode; readonly limits: Required<Limits> },
  repairs: RepairSet,
  rootMustEnd: boolean,
): ReaderPolicy {
  return { repairs, acceptsAnyText: false, rootMustEnd, numbers, depth: limits.depth };
}

/** The message for a value beyond the depth limit. */
export function describeDepthLimit(depth: number): string {
  return `The value is nested deeper than ${depth} (limits.depth)`;
}
