import { arrayOf, flag, name, object, text, count, oneOf, ordinal, orNull, timestamp } from '../../../base/index.js';
import type { FromSchema } from '../../../base/index.js';
import {
  inboxItemSchema,
  issueSchema,
  orderRecordSchema,
  lineComments,
  resolutionAction,
} from '../../../store/records/index.js';

/** The host that claimed the run and has its folder; absent before that. */
const host = name;

const { group, ...orderFields } = orderRecordSchema.properties;

/** An order and its state, with its issue, run id and wrapper (`worker`) at the top level. */
export const orderSchema = object({ issue_ref: name, run_id: name, worker: name, ...orderFields }, { group, host });

/** A submitted order, with the other orders of its race. */
export const submittedOrderSchema = object(
  { issue_ref: name, run_id: name, worker: name, ...orderFields },
  { group, host, rivals: arrayOf(orderSchema) },
);

export type OrderView = FromSchema<typeof orderSchema>;

/** An inbox item, and the host that has its run folder. */
export const inboxResponseSchema = {
  ...inboxItemSchema,
  properties: { ...inboxItemSchema.properties, host },
} as const;

/** A human decision. If tokens are configured, `who` must be the token's name, or absent. */
export const resolveRequestSchema = object(
  { action: resolutionAction, why: name },
  {
    who: name,
    result: { type: 'object', description: 'For edit: the corrected WorkResult.' },
    comments: {
      ...lineComments,
      description: 'Line comments on the change; a retry passes them to the next run.',
    },
  },
);

/** The comment that a decision would deliver. */
export const commentPreviewSchema = object({ action: name, comment: text });

export const issueDetailSchema = object({
  issue: issueSchema,
  orders: arrayOf(orderSchema),
  inbox: arrayOf(inboxResponseSchema),
  needs_attention: flag,
});

/** Fields common to all entries. `id` does not change while the entry waits. */
const common = { id: name, at: timestamp, text };

/** The run whose agent is waiting. */
const runFields = {
  run: name,
  engine: name,
  task: text,
  issue_ref: orNull(name),
  interaction_id: name,
  /** The number of the FCMP event with the whole question and, for a permission, the input and the diff. */
  seq: ordinal,
  /** When the agent's process stops waiting (`limits.hold_s`). It is resumed with a later answer. */
  held_until: timestamp,
  /** When the wait ends without an answer (`limits.wait_s`); a permission request is then denied. */
  expires_at: timestamp,
};

const entrySchema = {
  anyOf: [
    /** An agent's question; any text is an answer. */
    object({ kind: { const: 'question' }, ...common, ...runFields, options: arrayOf(text) }),
    /** An agent's permission request; the answer is one of the options. */
    object({
      kind: { const: 'permission' },
      ...common,
      ...runFields,
      tool: name,
      /** The command that the tool would run, shortened. */
      command: orNull(text),
      /** The files that the tool would change; the counts of lines are null if the change is too long. */
      changes: arrayOf(object({ path: text, added: orNull(count), removed: orNull(count) })),
      options: arrayOf(
        object({
          id: name,
          label: text,
          kind: oneOf(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
        }),
      ),
    }),
    /** An order's result; `text` is the reason why it waits. */
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

export const waitingSchema = object({
  /** Questions first, because their agents are blocked; then sinks, then results. Oldest first within each kind. */
  items: { type: 'array', items: entrySchema },
  /** False if there are more entries of a kind than are listed. */
  complete: flag,
});

export type WaitingEntry = FromSchema<typeof waitingSchema>['items'][number];
