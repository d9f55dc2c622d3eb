import type { NumberMode } from './number.js';
import { REPAIR_KINDS, type RepairKind } from '../repair.js';

/** What a reader may do with text that is no JSON. */
export interface ReaderPolicy {
  /** The repairs it may make; where another would be needed, the reading ends with `SYNTAX` or `TRUNCATED`. */
  readonly repairs: ReadonlySet<RepairKind>;
  /** A key with a colon and nothing behind it: leave the key out, or give it `null`. */
  readonly missingValue: 'drop' | 'null';
  /** `cautious` refuses unquoted text that may be code or prose; `any` takes it as a string. */
  readonly bareText: 'cautious' | 'any';
  /** Only white space and comments may follow the value; otherwise the reading ends where the value does. */
  readonly rootMustEnd: boolean;
  readonly numbers: NumberMode;
  readonly depth: number;
}

/** The sets of repairs the pipeline chooses from. */
export const repairSets: Readonly<
  Record<'none' | 'controlCharacters' | 'syntax' | 'syntaxInProse' | 'everything', ReadonlySet<RepairKind>>
> = {
  none: new Set(),
  controlCharacters: new Set(['control_character']),
  /** All but those that turn code and lists of values into one value that nobody wrote. */
  syntax: without('truncated', 'function_call', 'several_values'),
  syntaxInProse: without('truncated', 'function_call', 'several_values', 'unquoted_string'),
  everything: new Set(REPAIR_KINDS),
};

/** The same repairs, and a cut value is completed as far as it came. */
export function withTruncation(repairs: ReadonlySet<RepairKind>): ReadonlySet<RepairKind> {
  return new Set<RepairKind>([...repairs, 'truncated']);
}

function without(...kinds: readonly RepairKind[]): ReadonlySet<RepairKind> {
  return new Set(REPAIR_KINDS.filter((kind) => !kinds.includes(kind)));
}

/** What a value beyond the depth limit fails with. */
export function tooDeep(depth: number): string {
  return `the value is nested deeper than limits.depth, ${depth}`;
}
