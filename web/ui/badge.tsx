import type { ComponentChildren } from 'preact';
import type { Tone } from './notice.js';

/** A state in one word. The word says it; the colour only helps. */
export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
