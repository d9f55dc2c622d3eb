import type { RunSummary } from '../../src/api/index.js';

/** How far a text had to be changed, as the wire has it. */
export type RepairLevelName = NonNullable<RunSummary['result']>['repair_level'];

/** The same for people, wherever the console speaks of it. */
export const LEVEL_WORDS: Readonly<Record<RepairLevelName, string>> = {
  none: 'as it came',
  deterministic_generic: 'repaired',
  schema_aligned: 'aligned',
};
