import type { RunSummary } from '../../src/api/shapes/run.js';
import { Badge } from './badge.js';
import { toneOf } from './state-tone.js';

/** How far a text had to be changed, as the wire has it. */
export type RepairLevelName = NonNullable<RunSummary['result']>['repair_level'];

const WORDS: Readonly<Record<RepairLevelName, string>> = {
  none: 'as it came',
  deterministic_generic: 'repaired',
  schema_aligned: 'aligned',
};

/** How far a text had to be changed, in a word; the pointer tells the name it has elsewhere. */
export function RepairLevel({ level }: { readonly level: RepairLevelName }) {
  if (level === 'none') return <span class="dim">{WORDS[level]}</span>;
  return (
    <span title={level}>
      <Badge tone={toneOf(level)}>{WORDS[level]}</Badge>
    </span>
  );
}
