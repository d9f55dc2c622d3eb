import type { ComponentChildren } from 'preact';
import type { Tone } from './notice.js';

/** A state in one word. The word says it; the colour, and the dot of what goes on, only help. */
export function Badge({
  tone = 'plain',
  isLive = false,
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly isLive?: boolean;
  /** What the pointer tells. */
  readonly title?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <span class={`badge ${tone}${isLive ? ' live' : ''}`} title={title}>
      {children}
    </span>
  );
}
