import { arrayOf, name, object, oneOf, orNull, text, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import { lineComments } from './change.js';
import { decisionAction } from './decision.js';
import { evidenceSchema } from './evidence.js';
import { readingSchema } from './reading.js';
import { workResult } from './work-result.js';

/** The possible human decisions. `edit`: the user corrects the result and accepts it. */
export const resolutionAction = oneOf(['accept', 'reject', 'retry', 'edit']);

const resolutionSchema = object(
  {
    action: resolutionAction,
    who: name,
    why: text,
    /** The issue's state after the action. */
    decision: decisionAction,
    at: timestamp,
  },
  {
    result: workResult,
    /** The user's comments on changed lines. */
    comments: lineComments,
    /** The run started by a retry. */
    new_run_id: name,
  },
);

const supersededSchema = object({
  action: { const: 'superseded' },
  /** `lead`, or the user who accepted another result of the race. */
  who: name,
  why: text,
  /** The run of the new order, or the run whose result was accepted. */
  new_run_id: name,
  at: timestamp,
});

/** A question that requires a human decision. It stays open until it is decided, without a time limit. */
export const inboxItemSchema = object(
  {
    id: name,
    issue_ref: name,
    run_id: name,
    run: name,
    reason: text,
    next: text,
    result_code: name,
    reading: readingSchema,
    exit_code: orNull({ type: 'integer' }),
    signal: orNull(name),
    created_at: timestamp,
    /** Null while the item is open. */
    resolution: { anyOf: [resolutionSchema, supersededSchema, { type: 'null' }] },
  },
  {
    /** Evidence about the result, besides the agent's report. */
    evidence: arrayOf(evidenceSchema),
    /** The race the run took part in; a user chooses between its results. */
    group: name,
  },
);

/** A question that requires a human decision. */
export type InboxItem = FromSchema<typeof inboxItemSchema>;

/** A human decision and the reason for it. */
export type Resolution = FromSchema<typeof resolutionSchema>;

/** Closed without a decision: a new order was submitted for the issue, or another result of the race was accepted. */
export type Superseded = FromSchema<typeof supersededSchema>;

/**
 * Marks the author of a decision as a name that a local user has given without proof.
 *
 * @example
 * markUnverified('ada') // 'ada (unverified local user)'
 */
export function markUnverified(who: string): string {
  return `${who} (unverified local user)`;
}
