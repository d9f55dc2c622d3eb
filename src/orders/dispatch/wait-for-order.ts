import { isDeepStrictEqual } from 'node:util';
import type { OrderRecord, WaitingFor } from '../../store/records/index.js';
import type { Store } from '../../store/index.js';
import { createWaker } from './waker.js';

/** How long it takes to notice that an order has ended if a notification is lost. */
const POLL_MS = 5000;

interface WaitOptions {
  readonly signal?: AbortSignal;
  /** Called when the run cannot start, each time the reason changes. */
  readonly onWaiting?: (waiting: WaitingFor) => void;
}

/**
 * Waits until an order is settled or canceled by any process. Returns undefined if it does not exist; rejects with the
 * signal's reason if it is aborted first.
 *
 * @example
 * const record = await waitForOrder(store, { issueRef: order.issue_ref, runId: order.run_id })
 */
export async function waitForOrder(
  store: Pick<Store, 'findOrder' | 'findRun' | 'watch'>,
  { issueRef, runId }: { readonly issueRef: string; readonly runId: string },
  { signal, onWaiting }: WaitOptions = {},
): Promise<OrderRecord | undefined> {
  const waker = createWaker();
  const first = await store.findOrder(issueRef, runId);
  if (first === undefined) return undefined;
  let reason: WaitingFor | null = null;
  const reportReason = async (): Promise<void> => {
    const { waiting_for = null } = (await store.findRun(first.run)) ?? {};
    if (waiting_for !== null && !isDeepStrictEqual(waiting_for, reason)) onWaiting?.(waiting_for);
    reason = waiting_for;
  };
  const stopWatching = store.watch(first.run, waker.wake);
  signal?.addEventListener('abort', waker.wake);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const record = await store.findOrder(issueRef, runId);
      if (record === undefined || record.state === 'settled' || record.state === 'canceled') return record;
      if (onWaiting !== undefined && record.state === 'queued') await reportReason();
      await waker.sleep(POLL_MS);
    }
  } finally {
    stopWatching();
    signal?.removeEventListener('abort', waker.wake);
  }
}
