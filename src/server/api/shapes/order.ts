import { arrayOf, flag, name, object, text } from '../../../base/index.js';
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

/** See {@link orderSchema}. */
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

/** An issue with its orders. */
export const issueDetailSchema = object({
  issue: issueSchema,
  orders: arrayOf(orderSchema),
  inbox: arrayOf(inboxResponseSchema),
  needs_attention: flag,
});
