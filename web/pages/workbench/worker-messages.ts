import type { Inspection, InspectionInput, SchemaProblem, ValueView } from './inspection.js';

/** What the page asks of its worker. Each question has a number, and its answer the same. */
export type WorkerQuestion =
  | { readonly kind: 'inspect'; readonly number: number; readonly input: InspectionInput }
  /** The whole value of the last inspection, as JSON text. */
  | { readonly kind: 'copy'; readonly number: number }
  /** Begins to read the text of the last inspection anew, piece by piece. */
  | { readonly kind: 'stream'; readonly number: number }
  | { readonly kind: 'push'; readonly number: number; readonly characters: number; readonly pieces: number };

/** What the worker answers. */
export type WorkerAnswer =
  | { readonly kind: 'inspected'; readonly number: number; readonly inspection: Inspection; readonly tookMs: number }
  | { readonly kind: 'schema'; readonly number: number; readonly problem: SchemaProblem }
  | { readonly kind: 'copied'; readonly number: number; readonly text: string }
  | { readonly kind: 'streamed'; readonly number: number; readonly view: StreamView }
  | { readonly kind: 'broken'; readonly number: number; readonly message: string };

/** How far a text that is read in pieces has come. */
export interface StreamView {
  /** Characters read, of `length`. */
  readonly taken: number;
  readonly length: number;
  /** The end of what was read. */
  readonly tail: string;
  readonly value: ValueView | null;
  /** Where the last piece changed something. */
  readonly changed: readonly string[];
  readonly complete: boolean;
  /** Once everything was read. */
  readonly ended: { readonly status: 'success' | 'failed' | 'comment'; readonly words: string } | null;
}
