import type { InboxItem, OutboxMessage } from '../../records/index.js';
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
  /** False if the lease was lost in between: then somebody else delivers, and finds the marker. */
  markDelivered(done: {
    readonly id: string;
    readonly workerId: string;
    readonly deliveredTo: string;
    readonly now: number;
  }): Promise<boolean>;
  /**
   * Tries again at `retryAt`, or gives up (null): then the message is dead. In the same transaction the item is written
   * and its issue set to `needs-human`, but only while the item's run is the active one.
   */
  markFailed(failure: {
    readonly id: string;
    readonly workerId: string;
    readonly error: string;
    readonly now: number;
    readonly retryAt: number | null;
    readonly item: InboxItem | null;
  }): Promise<boolean>;
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
