import { arrayOf, count, flag, name, object, oneOf, ordinal, orNull, text, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

/** Fields of every entry. `id` does not change while the entry waits. */
const common = { id: name, at: timestamp, text };

/** The run whose agent is waiting. */
const runFields = {
  run: name,
  engine: name,
  task: text,
  issue_ref: orNull(name),
  interaction_id: name,
  /** The number of the FCMP event that asks, which contains the full text and, for a permission, the input and the diff. */
  seq: ordinal,
};

/** One thing that waits for a person. */
const entrySchema = {
  anyOf: [
    /** A question of an agent; any text is an answer. */
    object({ kind: { const: 'question' }, ...common, ...runFields, options: arrayOf(text) }),
    /** A permission request of an agent; the answer is one of the options. */
    object({
      kind: { const: 'permission' },
      ...common,
      ...runFields,
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
      /** Whether it can be accepted unchanged. */
      acceptable: flag,
    }),
    /** A sink that does not accept comments; `text` is its last error. One entry per sink. */
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

/** Everything that waits for a person. */
export const waitingSchema = object({
  /** Questions and permission requests first, because their agents are blocked; then sinks, then results. Oldest first within each kind. */
  items: { type: 'array', items: entrySchema },
  /** False if there are more entries of a kind than are listed. */
  complete: flag,
});

/** Something that waits for a person. */
export type WaitingEntry = FromSchema<typeof waitingSchema>['items'][number];
