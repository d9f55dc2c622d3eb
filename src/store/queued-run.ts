import { resolve } from 'node:path';
import type { RunRecord, RunSpec } from '../records/index.js';

/** A run on its way into the queue. A run that carries an order has the order's priority, worker type and isolation. */
export interface QueuedRun {
  readonly id: string;
  readonly spec: RunSpec;
  readonly order: RunRecord['order'];
  readonly workerType: string | null;
  readonly priority: number;
  /** Two runs share a folder only if neither needs it for itself: orders with a git worktree each. */
  readonly isExclusive: boolean;
}

/** The folder that a run must have to itself. Links are not resolved here: the lock on the folder itself is by its real path. */
export function readFolder({ workdir }: RunSpec): string {
  return resolve(workdir);
}

/** A run that carries no order. */
export function queuePlainRun(id: string, spec: RunSpec): QueuedRun {
  return { id, spec, order: null, workerType: null, priority: 0, isExclusive: true };
}
