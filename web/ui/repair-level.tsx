import { Badge, chooseTone } from './badge.js';
import type { RepairLevel as RepairLevelName } from '../../src/json/index.js';
import { LEVEL_LABELS } from './repair-labels.js';

/** A repair level's label; the tooltip has its wire name. */
export function RepairLevel({
  level,
  kinds = [],
}: {
  readonly level: RepairLevelName;
  /** The kinds of repairs, if known. */
  readonly kinds?: readonly string[];
}) {
  if (level === 'none') return <span class="dim">{LEVEL_LABELS[level]}</span>;
  if (isOnlyExtracted(level, kinds)) return <Badge title={level}>Extracted</Badge>;
  return (
    <Badge tone={chooseTone(level)} title={level}>
      {LEVEL_LABELS[level]}
    </Badge>
  );
}

/** Whether valid JSON was extracted from surrounding text without any change. */
export function isOnlyExtracted(level: RepairLevelName, kinds: readonly string[]): boolean {
  return level === 'deterministic_generic' && kinds.length > 0 && kinds.every((kind) => kind === 'extracted');
}
