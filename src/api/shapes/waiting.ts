import { arrayOf, count, flag, name, object, oneOf, ordinal, orNull, text, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

/** Fields of every entry. `id` stays the same while the entry waits. */
const common = { id: name, at: timestamp, text };

/** The run whose agent is waiting. */
const ofRun = {
  run: name,
  engine: name,
  task: text,
  issue_ref: orNull(name),
  interaction_id: name,
  /** The number of the FCMP event that asks: it has the whole text, and for a permission the input and the diff. */
  seq: ordinal,
};

/** Everything that waits for a person, oldest first within each kind. */
const entrySchema = {
  anyOf: [
    /** An agent asks something; any text is an answer. */
    object({ kind: { const: 'question' }, ...common, ...ofRun, options: arrayOf(text) }),
    /** An agent asks whether it may use a tool; one of the options is the answer. */
    object({
      kind: { const: 'permission' },
      ...common,
      ...ofRun,
      tool: name,
      options: arrayOf(
        object({
          id: name,
          label: text,
          kind: oneOf(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
        }),
      ),
    }),
    /** The result of an order; `text` is the reason why it waits. */
    object({
      kind: { const: 'result' },
      ...common,
      run: name,
      run_id: name,
      issue_ref: name,
      code: name,
      next: text,
      /** It can be accepted as it is. */
      acceptable: flag,
    }),
    /** A sink that does not accept comments; `text` is its last error. One entry, however many comments. */
    object({
      kind: { const: 'sink' },
      ...common,
      sink: name,
      state: oneOf(['failing', 'broken']),
      open: count,
      dead: count,
    }),
  ],
} as const;

/** Everything that waits for a person, in one list. */
export const waitingSchema = object({
  /** Questions and permission requests first: their agents stand still. Then sinks, then results. */
  items: { type: 'array', items: entrySchema },
  /** False if there is more of a kind than is listed. */
  complete: flag,
});

/** Something that waits for a person. */
export type WaitingEntry = FromSchema<typeof waitingSchema>['items'][number];
