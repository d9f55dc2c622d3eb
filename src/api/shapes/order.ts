import { anything, count, flag, name, object, oneOf, text, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import { orNull } from './lists.js';

/** The words that filters take too: what was decided, where an issue stands, how far a comment has come. */
export const decisionAction = oneOf(['advance', 'archive', 'needs-human', 'blocked']);
export const issueState = oneOf(['todo', 'doing', 'review', 'blocked', 'needs-human', 'done']);
export const outboxState = oneOf(['waiting', 'sending', 'delivered', 'dead']);

const decisionSchema = object({
  action: decisionAction,
  reason: text,
  result_code: name,
  next: text,
});

/** An order, as it stands. */
export const orderSchema = object({
  issue_ref: name,
  run_id: name,
  /** The run that does it: `/v1/runs/{id}`. */
  run: name,
  worker: name,
  worker_type: name,
  state: oneOf(['queued', 'claimed', 'running', 'settled', 'canceled']),
  order: { type: 'object' },
  created_at: timestamp,
  started_at: orNull(timestamp),
  settled_at: orNull(timestamp),
  decision: orNull(decisionSchema),
  result: orNull({ type: 'object' }),
});

/** See {@link orderSchema}. */
export type OrderView = FromSchema<typeof orderSchema>;

/** An issue, as it stands. */
export const issueSchema = object({
  issue_ref: name,
  state: issueState,
  active_run_id: orNull(name),
  updated_at: timestamp,
});

/** See {@link issueSchema}. */
export type IssueView = FromSchema<typeof issueSchema>;

/** Something a person has to settle, with what is known about it. */
export const inboxItemSchema = object({
  id: name,
  issue_ref: name,
  run_id: name,
  run: name,
  reason: text,
  next: text,
  result_code: name,
  reading: { type: 'object' },
  exit_code: orNull({ type: 'integer' }),
  signal: orNull(name),
  created_at: timestamp,
  resolution: orNull({ type: 'object' }),
});

/** See {@link inboxItemSchema}. */
export type InboxItemView = FromSchema<typeof inboxItemSchema>;

/** What a person decides. Who it was comes from the token. */
export const resolveRequestSchema = object(
  { action: oneOf(['accept', 'reject', 'retry', 'edit']), why: name },
  { who: name, result: { type: 'object', description: 'For edit: the WorkResult that counts.' } },
);

/** What will be delivered for an answer, before it is given. */
export const commentPreviewSchema = object({ action: name, comment: text });

/** A comment on its way. */
export const outboxMessageSchema = object({
  id: name,
  sink: name,
  issue_ref: name,
  trigger: name,
  body: text,
  state: outboxState,
  tries: count,
  due_at: { type: 'integer' },
  last_error: orNull(text),
  delivered_to: orNull(text),
  created_at: timestamp,
});

/** See {@link outboxMessageSchema}. */
export type OutboxMessageView = FromSchema<typeof outboxMessageSchema>;

/** One row of the audit. */
export const executionSchema = object({
  id: name,
  issue_ref: name,
  run_id: name,
  run: name,
  worker: name,
  worker_type: name,
  command: { type: 'array', items: text },
  worker_version: orNull(text),
  parser_version: name,
  started_at: orNull(timestamp),
  duration_ms: orNull({ type: 'number', minimum: 0 }),
  exit_code: orNull({ type: 'integer' }),
  signal: orNull(name),
  result_encoding: oneOf(['json', 'text', 'streams', 'none']),
  parse_path: orNull(text),
  parse_status: oneOf(['parsed', 'incomplete', 'unreadable', 'anchors', 'missing']),
  problems: { type: 'array', items: anything },
  decision: decisionAction,
  result_code: name,
  reason: text,
  who: orNull(name),
  at: timestamp,
});

/** An issue with its orders. */
export const issueDetailSchema = object({
  issue: issueSchema,
  orders: { type: 'array', items: orderSchema },
  inbox: { type: 'array', items: inboxItemSchema },
  needs_attention: flag,
});
