import { resolveLimits } from './limits.js';
import type { Limits, ParseOptions, Profile } from './parse-options.js';
import { repairSets } from './reader/reader-policy.js';
import type { RepairSet } from './repair.js';

/** The options of one call, with defaults filled in and what follows from the profile. */
export interface SearchSettings {
  readonly profile: Profile;
  readonly repairs: RepairSet;
  /** In running text without a schema, unquoted words are no values: nothing would tell prose from an answer. */
  readonly repairsInProse: RepairSet;
  readonly hasSchema: boolean;
  readonly limits: Required<Limits>;
  readonly numbers: NonNullable<ParseOptions['numbers']>;
  /** `JSON.parse` cannot answer what was asked for: our own reader takes its place. */
  readonly needsOwnReader: boolean;
}

export function resolveSettings(options: ParseOptions, hasSchema: boolean): SearchSettings {
  const profile = options.profile ?? 'default';
  const repairs = REPAIRS[profile] ?? repairSets.syntax;
  const numbers = options.numbers ?? 'double';
  return {
    profile,
    repairs,
    repairsInProse: hasSchema || repairs !== repairSets.syntax ? repairs : repairSets.syntaxInProse,
    hasSchema,
    limits: resolveLimits(options.limits),
    numbers,
    needsOwnReader: numbers !== 'double' || options.detectDuplicates === true,
  };
}

/** What the profiles mend that do not mend all slips of syntax. */
const REPAIRS: Readonly<Partial<Record<Profile, RepairSet>>> = {
  generic: repairSets.none,
  unified: repairSets.controlCharacters,
};
