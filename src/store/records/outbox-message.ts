import { count, name, object, oneOf, orNull, text, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

/** A comment's delivery state. `dead`: delivery failed permanently. */
export const outboxState = oneOf(['waiting', 'sending', 'delivered', 'dead']);

/** A comment to be delivered to one sink. Identified by `sink`, `issue_ref` and `trigger`. */
export const outboxMessageSchema = object({
  id: name,
  sink: name,
  issue_ref: name,
  /** `workrun:<RunId>` or `resolve:<inbox id>`; lets a sink recognise a repeated delivery. */
  trigger: name,
  body: text,
  state: outboxState,
  /**
   * How often the comment has been claimed, including the current claim. If more than once, it might already have been
   * sent.
   */
  tries: count,
  /** Not sent before this time, in milliseconds since 1970. */
  due_at: { type: 'integer' },
  lease_until: orNull({ type: 'integer' }),
  last_error: orNull(text),
  /** The URL or file the sink wrote the comment to. */
  delivered_to: orNull(text),
  created_at: timestamp,
});

/** A comment to be delivered to one sink. */
export type OutboxMessage = FromSchema<typeof outboxMessageSchema>;

/** A comment that is not queued yet. */
export type NewOutboxMessage = Pick<OutboxMessage, 'id' | 'sink' | 'issue_ref' | 'trigger' | 'body'>;

/** A sink with undelivered comments. */
export const sinkStateSchema = object({
  name,
  /**
   * `failing`: a comment failed and will be retried. `broken`: a comment failed permanently; redeliver it once the sink
   * works again.
   */
  state: oneOf(['waiting', 'failing', 'broken']),
  /** Comments that will be sent or retried. */
  open: count,
  /** Comments that failed permanently. */
  dead: count,
  /** The latest error of these comments. */
  last_error: orNull(text),
  /** When the oldest of these comments was written. */
  oldest_at: timestamp,
});

/** A sink with undelivered comments. */
export type SinkState = FromSchema<typeof sinkStateSchema>;
