import { isInProgress } from '../orders/index.js';
import { failedResult } from '../runs/index.js';
import type { RunRecords } from '../runs/index.js';
import type { LostRunCode } from './lost-run-codes.js';

const GONE: LostRunCode = 'WORKER_GONE';

/**
 * Ends runs in the books whose worker has given no sign of life for a lease. If it is there after all, it learns so when
 * it renews, and stops.
 */
export async function endLostRuns(store: RunRecords, now: number): Promise<number> {
  let ended = 0;
  for (const { id, worker_id } of await store.listExpiredRuns(now)) {
    if (worker_id === null || isInProgress(worker_id)) continue;
    const result = failedResult(GONE, 'The worker that did this run is gone; nobody saw it end. Start it again.');
    if (await store.endRun({ id, workerId: worker_id, result, now })) ended += 1;
  }
  return ended;
}
