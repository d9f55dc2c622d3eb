/** A comment on its way to one sink. `sink`, `issue_ref` and `trigger` together are its key. */
export interface OutboxMessage {
  readonly id: string;
  /** Names the sink it goes to. */
  readonly sink: string;
  readonly issue_ref: string;
  /** `workrun:<RunId>` or `resolve:<inbox id>`: what a repeated delivery is recognised by. */
  readonly trigger: string;
  readonly body: string;
  readonly state: 'waiting' | 'sending' | 'delivered' | 'dead';
  /** How often it has been claimed, the present claim included: above 1 it may have been sent before. */
  readonly tries: number;
  /** Milliseconds since 1970: not before. */
  readonly due_at: number;
  readonly lease_until: number | null;
  readonly last_error: string | null;
  /** Where the sink put it: an address or a file. */
  readonly delivered_to: string | null;
  readonly created_at: string;
}

/** What is to be delivered, before the store gives it a place in the queue. */
export type NewOutboxMessage = Pick<OutboxMessage, 'id' | 'sink' | 'issue_ref' | 'trigger' | 'body'>;
