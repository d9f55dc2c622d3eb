import { count, name, object, oneOf, orNull, text, timestamp } from '../base/index.js';
import type { FromSchema } from '../base/index.js';

/** How far the delivery of a comment has come. */
export const outboxState = oneOf(['waiting', 'sending', 'delivered', 'dead']);

/** A comment to be delivered to one sink. `sink`, `issue_ref` and `trigger` together are its key. */
export const outboxMessageSchema = object({
  id: name,
  sink: name,
  issue_ref: name,
  /** `workrun:<RunId>` or `resolve:<inbox id>`: identifies a repeated delivery. */
  trigger: name,
  body: text,
  state: outboxState,
  /** How often it has been claimed, the present claim included: above 1 it may have been sent before. */
  tries: count,
  /** Milliseconds since 1970: not before. */
  due_at: { type: 'integer' },
  lease_until: orNull({ type: 'integer' }),
  last_error: orNull(text),
  /** Where the sink put it: an address or a file. */
  delivered_to: orNull(text),
  created_at: timestamp,
});

/** A comment to be delivered to one sink. */
export type OutboxMessage = FromSchema<typeof outboxMessageSchema>;

/** A comment before the store queues it. */
export type NewOutboxMessage = Pick<OutboxMessage, 'id' | 'sink' | 'issue_ref' | 'trigger' | 'body'>;

/** A sink with comments that are not delivered. */
export const sinkStateSchema = object({
  name,
  /** `failing`: a comment will be retried. `broken`: one failed permanently; redeliver it when the sink works again. */
  state: oneOf(['waiting', 'failing', 'broken']),
  /** Comments to be sent, or tried again. */
  open: count,
  /** Comments that failed permanently. */
  dead: count,
  /** The latest error of these comments. */
  last_error: orNull(text),
  /** When the oldest of these comments was written. */
  oldest_at: timestamp,
});

/** A sink with comments that are not delivered. */
export type SinkState = FromSchema<typeof sinkStateSchema>;
