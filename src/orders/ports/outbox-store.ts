import type { OutboxMessage, SinkState } from '../../records/index.js';
import type { Listed, Page } from './order-store.js';

/** The queue of comments. Each method is one transaction. At most one message per issue and sink is sent at a time. */
export interface OutboxStore {
  /** Returns the id of the installation, which is everything that shares this store. Created on first use; never changes. */
  readInstallation(): Promise<string>;
  /** Claims messages that are due, oldest first. A message whose lease has expired is due again. */
  claimOutbox(claim: {
    readonly workerId: string;
    readonly leaseMs: number;
    readonly now: number;
    readonly limit: number;
    readonly sinks?: readonly string[];
  }): Promise<readonly OutboxMessage[]>;
  /** Returns false if the lease was lost in between: another process then delivers the message and finds its marker. */
  markDelivered(done: {
    readonly id: string;
    readonly workerId: string;
    readonly deliveredTo: string;
    readonly now: number;
  }): Promise<boolean>;
  /** Records a failed try. The message is retried at `retryAt`; without it, the message is dead. The issue does not change. */
  markFailed(failure: {
    readonly id: string;
    readonly workerId: string;
    readonly error: string;
    readonly retryAt: number | null;
  }): Promise<boolean>;
  /**
   * Makes messages that are dead or wait for their next try due immediately: one by its id, or all of a sink, oldest first,
   * at most 1,000 per call. Returns how many. They may have been sent before, so they are searched for first.
   */
  redeliver(filter: { readonly id: string } | { readonly sink: string }, now: number): Promise<number>;
  /** Lists sinks with undelivered comments, by name. */
  listSinks(): Promise<readonly SinkState[]>;
  /**
   * Records an error on messages that have been due since before `dueBefore` and belong to none of these sinks, oldest first.
   * Returns their sinks. They keep waiting: a worker that has their sink delivers them. Messages that already have the error
   * are skipped.
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
