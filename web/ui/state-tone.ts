import type { Tone } from './notice.js';

const TONES = new Map(
  Object.entries<Tone>({
    success: 'good',
    done: 'good',
    delivered: 'good',
    advance: 'good',
    comment: 'warn',
    waiting: 'warn',
    'needs-human': 'warn',
    review: 'warn',
    deterministic_generic: 'warn',
    schema_aligned: 'warn',
    failed: 'bad',
    dead: 'bad',
    blocked: 'bad',
  }),
);

/** How a word of ours for a state or an outcome is meant; words without a colour are plain. */
export function toneOf(word: string): Tone {
  return TONES.get(word) ?? 'plain';
}
