import type { ComponentChildren } from 'preact';
import type { Tone } from './notice.js';

/** A state in one word. The meaning is in the word; colour and dot only help. */
export function Badge({
  tone = 'plain',
  isLive = false,
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly isLive?: boolean;
  /** The tooltip. */
  readonly title?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <span class={`badge ${tone}${isLive ? ' live' : ''}`} title={title}>
      {children}
    </span>
  );
}

const TONES = new Map(
  Object.entries<Tone>({
    success: 'good',
    done: 'good',
    delivered: 'good',
    advance: 'good',
    comment: 'warn',
    waiting: 'warn',
    'needs-human': 'warn',
    'needs review': 'warn',
    review: 'warn',
    deterministic_generic: 'warn',
    schema_aligned: 'warn',
    failed: 'bad',
    dead: 'bad',
    blocked: 'bad',
  }),
);

/** The tone of a state or an outcome; words without a colour are plain. */
export function chooseTone(word: string): Tone {
  return TONES.get(word) ?? 'plain';
}
