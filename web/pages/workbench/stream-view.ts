import type { ValueView } from './inspection.js';

/** How far a text that is read in pieces has come. */
export interface StreamView {
  /** Characters read, of `length`. */
  readonly taken: number;
  readonly length: number;
  /** The end of what was read. */
  readonly tail: string;
  readonly value: ValueView | null;
  /** Where the last pieces changed something. */
  readonly changed: readonly string[];
  readonly complete: boolean;
  /** Once everything was read. */
  readonly ended: { readonly status: 'success' | 'failed' | 'comment'; readonly words: string } | null;
}
