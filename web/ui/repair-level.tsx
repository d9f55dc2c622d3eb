import { Badge } from './badge.js';
import { LEVEL_WORDS } from './level-words.js';
import type { RepairLevelName } from './level-words.js';
import { toneOf } from './state-tone.js';

/** How far a text had to be changed, in a word; the pointer tells the name it has elsewhere. */
export function RepairLevel({ level }: { readonly level: RepairLevelName }) {
  if (level === 'none') return <span class="dim">{LEVEL_WORDS[level]}</span>;
  return (
    <Badge tone={toneOf(level)} title={level}>
      {LEVEL_WORDS[level]}
    </Badge>
  );
}
