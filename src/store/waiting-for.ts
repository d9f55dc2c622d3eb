import type { RunRecord } from './records/index.js';

const DAY_MS = 86_400_000;

/** Reasons why a queued run cannot be claimed. */
interface ClaimObstacles {
  /** The run that occupies its folder. */
  readonly folderHolder: string | null;
  /** The budget that was used up when the run was last claimed. */
  readonly budget: string | null;
  /** The run must not be claimed before this time; 0 for any time. */
  readonly notBefore: number;
}

/**
 * Explains why a queued run cannot start; null if it only waits for a worker. The folder takes precedence: until it is
 * free, the run cannot request its budget again.
 */
export function explainWaiting({ folderHolder, budget, notBefore }: ClaimObstacles): RunRecord['waiting_for'] {
  if (folderHolder !== null) return { reason: 'folder', run: folderHolder };
  if (notBefore === 0) return null;
  if (budget === null) return { reason: 'folder', run: null };
  // A run requests its budget again at the end of the UTC day at the latest.
  const opensAt = Math.ceil(notBefore / DAY_MS) * DAY_MS;
  return { reason: 'budget', budget, opens_at: new Date(opensAt).toISOString() };
}
