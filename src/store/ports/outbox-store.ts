import type { OutboxMessage, SinkState } from '../records/index.js';
import type { Listed, Page } from './order-store.js';

/** The comment queue. Each method is one transaction. At most one message per issue and sink is sent at a time. */
export interface OutboxStore {
  /** Returns the id of the installation: all processes that share this store. Created on first use; never changes. */
  readInstallation(): Promise<string>;
  /** Claims messages that are due, oldest first. A message whose lease has expired is due again. */
  claimOutbox(claim: {
    readonly workerId: string;
    readonly leaseMs: number;
    readonly now: number;
    readonly limit: number;
    readonly sinks?: readonly string[];
  }): Promise<readonly OutboxMessage[]>;
  /** Returns false if the lease was lost: another process then delivers the message and finds its marker. */
  markDelivered(done: {
    readonly id: string;
    readonly workerId: string;
    readonly deliveredTo: string;
    readonly now: number;
  }): Promise<boolean>;
  /**
   * Records a failed attempt. The message is retried at `retryAt`; if `retryAt` is null, the message is dead. The issue
   * does not change.
   */
  markFailed(failure: {
    readonly id: string;
    readonly workerId: string;
    readonly error: string;
    readonly retryAt: number | null;
  }): Promise<boolean>;
  /**
   * Makes messages that are dead or waiting for their next attempt due immediately: one by id, or all messages for a
   * sink, oldest first, at most 1,000 per call. Returns their number. They might have been sent before, so the sender
   * first checks whether the sink already has them.
   */
  redeliver(filter: { readonly id: string } | { readonly sink: string }, now: number): Promise<number>;
  /** Lists sinks with undelivered comments, by name. */
  listSinks(): Promise<readonly SinkState[]>;
  /**
   * Records an error on messages that were due before `dueBefore` and belong to none of these sinks, oldest first.
   * Returns their sinks. They keep waiting: a worker with that sink delivers them. Messages that already have the error
   * are skipped.
   */
  recordStranded(stranded: {
    readonly sinks: readonly string[];
    readonly dueBefore: number;
    readonly error: string;
    readonly limit: number;
  }): Promise<readonly string[]>;
  listOutbox(
    page: Page & { readonly state?: OutboxMessage['state']; readonly issueRef?: string },
  ): Promise<Listed<OutboxMessage>>;
}
