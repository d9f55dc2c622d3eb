import type { WorkerRecord } from './records/index.js';

/** Tracks the workers that share a store. */
export interface Fleet {
  /**
   * Records that a worker is alive until `aliveUntil`, and deletes workers that have been gone for a day. Returns
   * whether any run's lease on the worker's host has expired, so workers need no separate query for that.
   */
  reportWorker(report: WorkerReport): Promise<{ readonly hasExpiredRuns: boolean }>;
  /** Removes a worker that has stopped. */
  removeWorker(id: string): Promise<void>;
  /** Lists workers that reported within the last day, at most 1,000, most recent report first. */
  listWorkers(now: number): Promise<readonly WorkerRecord[]>;
}

/** A worker's report about itself. Times are milliseconds since 1970. */
export interface WorkerReport extends Omit<WorkerRecord, 'seen_at' | 'state'> {
  readonly isStopping: boolean;
  readonly now: number;
  readonly aliveUntil: number;
}

/** How long a worker stays listed after it is gone. */
export const GONE_WORKER_TTL_MS = 24 * 60 * 60 * 1000;
export const MAX_WORKERS = 1000;

/** Returns a worker's state at a given time. */
export function deriveWorkerState(
  { aliveUntil, isStopping }: Pick<WorkerReport, 'aliveUntil' | 'isStopping'>,
  now: number,
): WorkerRecord['state'] {
  if (aliveUntil <= now) return 'gone';
  return isStopping ? 'stopping' : 'alive';
}
