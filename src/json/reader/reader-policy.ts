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

/** Changes `parse` never makes: they turn code and lists of values into one value that nobody wrote. */
const COMPATIBILITY_REPAIRS: readonly RepairKind[] = ['function_call', 'several_values'];

const none: ReadonlySet<RepairKind> = new Set();
const syntax: ReadonlySet<RepairKind> = new Set(
  REPAIR_KINDS.filter((kind) => kind !== 'truncated' && !COMPATIBILITY_REPAIRS.includes(kind)),
);

/** The sets of repairs the pipeline chooses from. */
export const repairSets = {
  none,
  controlCharacters: new Set<RepairKind>(['control_character']) as ReadonlySet<RepairKind>,
  syntax,
  syntaxInProse: without(syntax, 'unquoted_string'),
  everything: new Set(REPAIR_KINDS) as ReadonlySet<RepairKind>,
};

/** The same repairs, and a cut value is completed as far as it came. */
export function withTruncation(repairs: ReadonlySet<RepairKind>): ReadonlySet<RepairKind> {
  return new Set<RepairKind>([...repairs, 'truncated']);
}

function without(repairs: ReadonlySet<RepairKind>, kind: RepairKind): ReadonlySet<RepairKind> {
  return new Set([...repairs].filter((other) => other !== kind));
}
