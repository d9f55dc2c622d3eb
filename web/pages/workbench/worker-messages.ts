import type { Inspection, InspectionInput, SchemaProblem } from './inspection.js';
import type { StreamView } from './stream-view.js';

/** What the page asks of its worker. A reading goes by the number of the question that asked for it. */
export type WorkerQuestion =
  | { readonly kind: 'read'; readonly input: InspectionInput }
  /** The whole value of a reading, as JSON text. */
  | { readonly kind: 'write'; readonly reading: number }
  /** Begins to read its text anew, piece by piece. */
  | { readonly kind: 'stream'; readonly reading: number }
  | { readonly kind: 'push'; readonly reading: number; readonly characters: number; readonly pieces: number };

/** What the worker answers. */
export type WorkerAnswer =
  | { readonly kind: 'read'; readonly inspection: Inspection; readonly tookMs: number }
  | { readonly kind: 'schema'; readonly problem: SchemaProblem }
  | { readonly kind: 'written'; readonly text: string }
  | { readonly kind: 'streamed'; readonly view: StreamView }
  /** Another text was read since: there is nothing to say about the one before. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'broken'; readonly message: string };

/** A question or an answer on its way; an answer has the number of its question. */
export interface Numbered<Message> {
  readonly number: number;
  readonly message: Message;
}
