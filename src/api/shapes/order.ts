import { arrayOf, flag, name, object, oneOf, orNull, text, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import {
  decisionSchema,
  inboxItemSchema,
  issueSchema,
  resolutionAction,
  workOrder,
  workResult,
} from '../../records/index.js';

/** An order and its state. */
export const orderSchema = object({
  issue_ref: name,
  run_id: name,
  /** The run that executes it: `/v1/runs/{id}`. */
  run: name,
  worker: name,
  worker_type: name,
  state: oneOf(['queued', 'running', 'settled', 'canceled']),
  order: workOrder,
  created_at: timestamp,
  started_at: orNull(timestamp),
  settled_at: orNull(timestamp),
  decision: orNull(decisionSchema),
  result: orNull(workResult),
});

/** See {@link orderSchema}. */
export type OrderView = FromSchema<typeof orderSchema>;

/** What a person decides. Their name comes from the token. */
export const resolveRequestSchema = object(
  { action: resolutionAction, why: name },
  { who: name, result: { type: 'object', description: 'For edit: the WorkResult that counts.' } },
);

/** The comment that a decision would deliver. */
export const commentPreviewSchema = object({ action: name, comment: text });

/** An issue with its orders. */
export const issueDetailSchema = object({
  issue: issueSchema,
  orders: arrayOf(orderSchema),
  inbox: arrayOf(inboxItemSchema),
  needs_attention: flag,
});
