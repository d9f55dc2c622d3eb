import type { NewOutboxMessage } from '../../records/index.js';

/**
 * Where comments go. A sink sends once and never repeats by itself: the outbox does that, after it has looked for the
 * message's marker.
 *
 * @example
 * const log: Sink = {
 *   name: 'log', timeoutMs: 1_000, accepts: () => true,
 *   async send({ body }) { console.log(body); return { deliveredTo: 'stdout' } },
 * }
 */
export interface Sink {
  /** Part of the key of its messages: must not change while any wait. */
  readonly name: string;
  /** How long one request may take at most; a message is leased for at least three times that. */
  readonly timeoutMs: number;
  /** Whether issues of this kind can be written to here. */
  accepts(issueRef: string): boolean;
  /** Looks for a message that was sent before; sinks that cannot be searched have none. */
  find?(message: NewOutboxMessage, signal: AbortSignal): Promise<Delivery | undefined>;
  /** Throws a {@link SinkError} unless the message has arrived. */
  send(message: NewOutboxMessage, signal: AbortSignal): Promise<Delivery>;
}

/** That a message arrived, and where. */
export interface Delivery {
  /** An address or a file, for people. */
  readonly deliveredTo: string;
}
