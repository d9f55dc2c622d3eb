import type { OutboxMessage, SinkState } from '../../records/index.js';
import type { Listed, Page } from './order-store.js';

/** The queue of comments. Each method is one transaction; one message per issue and sink is on its way at a time. */
export interface OutboxStore {
  /** Takes messages that are due, oldest first; a lease that has run out makes a message due again. */
  claimOutbox(claim: {
    readonly workerId: string;
    readonly leaseMs: number;
    readonly now: number;
    readonly limit: number;
    readonly sinks?: readonly string[];
  }): Promise<readonly OutboxMessage[]>;
  /** False if the lease was lost in between: then another process delivers, and finds the marker. */
  markDelivered(done: {
    readonly id: string;
    readonly workerId: string;
    readonly deliveredTo: string;
    readonly now: number;
  }): Promise<boolean>;
  /** Retries at `retryAt`, or never (null): then the message is dead. The issue does not change. */
  markFailed(failure: {
    readonly id: string;
    readonly workerId: string;
    readonly error: string;
    readonly retryAt: number | null;
  }): Promise<boolean>;
  /**
   * Makes messages that are dead or wait for their next try due at once: one by its id, or all of a sink, at most
   * 1,000 a call, oldest first; returns how many. They count as sent before, so they are searched for first.
   */
  redeliver(wanted: { readonly id: string } | { readonly sink: string }, now: number): Promise<number>;
  /** Sinks with comments that are not delivered, by name. */
  listSinks(): Promise<readonly SinkState[]>;
  /**
   * Writes an error on messages that have been due since before a moment and go to none of these sinks, oldest first;
   * returns to which they go. They keep waiting: a worker that has their sink delivers them. Messages that have the error already are left out.
   */
  noteStranded(stranded: {
    readonly sinks: readonly string[];
    readonly dueBefore: number;
    readonly error: string;
    readonly limit: number;
  }): Promise<readonly string[]>;
  listOutbox(
    page: Page & { readonly state?: OutboxMessage['state']; readonly issueRef?: string },
  ): Promise<Listed<OutboxMessage>>;
}
