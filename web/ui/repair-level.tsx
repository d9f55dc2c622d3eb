import { Badge, chooseTone } from './badge.js';
import type { RunSummary } from '../../src/api/index.js';

/** How much a text had to be changed, as one word; the tooltip has the name used on the wire. */
export function RepairLevel({
  level,
  kinds = [],
}: {
  readonly level: RepairLevelName;
  /** The kinds of repairs, as far as they are known. */
  readonly kinds?: readonly string[];
}) {
  if (level === 'none') return <span class="dim">{LEVEL_WORDS[level]}</span>;
  if (isOnlyExtracted(level, kinds)) return <Badge title={level}>extracted</Badge>;
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

/** Whether valid JSON was only cut out of a longer text: nothing in it was changed. */
export function isOnlyExtracted(level: RepairLevelName, kinds: readonly string[]): boolean {
  return level === 'deterministic_generic' && kinds.length > 0 && kinds.every((kind) => kind === 'extracted');
}
