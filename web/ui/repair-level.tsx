import { Badge, chooseTone } from './badge.js';
import type { RunSummary } from '../../src/api/index.js';

/** How much a text had to be changed, in a word; the tooltip has the name used on the wire. */
export function RepairLevel({ level }: { readonly level: RepairLevelName }) {
  if (level === 'none') return <span class="dim">{LEVEL_WORDS[level]}</span>;
  return (
    <Badge tone={chooseTone(level)} title={level}>
      {LEVEL_WORDS[level]}
    </Badge>
  );
}

/** How far a text had to be changed, as the wire has it. */
type RepairLevelName = NonNullable<RunSummary['result']>['repair_level'];

/** The same for people, wherever the console speaks of it. */
export const LEVEL_WORDS: Readonly<Record<RepairLevelName, string>> = {
  none: 'unchanged',
  deterministic_generic: 'repaired',
  schema_aligned: 'aligned',
};
