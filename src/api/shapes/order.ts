import { arrayOf, flag, name, object, text } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import {
  inboxItemSchema,
  issueSchema,
  orderRecordSchema,
  lineComments,
  resolutionAction,
} from '../../records/index.js';

/** The machine that executes or has executed it, and has its folder; absent while none has claimed it. */
const host = name;

/** An order and its state, with the names of the order at the top. */
const { group, ...orderFields } = orderRecordSchema.properties;
export const orderSchema = object({ issue_ref: name, run_id: name, worker: name, ...orderFields }, { group, host });

/** An order as it was submitted, with the others of its race. */
export const submittedOrderSchema = object(
  { issue_ref: name, run_id: name, worker: name, ...orderFields },
  { group, host, rivals: arrayOf(orderSchema) },
);

/** See {@link orderSchema}. */
export type OrderView = FromSchema<typeof orderSchema>;

/** An inbox item, and the machine that has the folder of its run. */
export const inboxAnswerSchema = {
  ...inboxItemSchema,
  properties: { ...inboxItemSchema.properties, host },
} as const;

/** A person's decision. Their name comes from the token. */
export const resolveRequestSchema = object(
  { action: resolutionAction, why: name },
  {
    who: name,
    result: { type: 'object', description: 'For edit: the WorkResult that counts.' },
    comments: {
      ...lineComments,
      description: 'About lines of the change; a retry passes them to the next run.',
    },
  },
);

/** The comment that a decision would deliver. */
export const commentPreviewSchema = object({ action: name, comment: text });

/** An issue with its orders. */
export const issueDetailSchema = object({
  issue: issueSchema,
  orders: arrayOf(orderSchema),
  inbox: arrayOf(inboxAnswerSchema),
  needs_attention: flag,
});
