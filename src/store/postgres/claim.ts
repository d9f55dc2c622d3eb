import type { RunClaim } from '../ports/index.js';
import type { Row } from '../driver.js';
import type { Queryable } from './driver.js';

/**
 * Each round waits for another worker's claim, or parks a hundred runs: marks them to be skipped while their folder is
 * in use. After this many rounds, the next wake-up continues.
 */
const MAX_ROUNDS = 1000;

/** `sluice.claim_run` is in `tables.ts`. One call is one transaction, which commits before its result is returned. */
const CLAIM = `
  SELECT (claimed.run).*, contended, is_more
  FROM sluice.claim_run($1, $2, $3, $4, $5, $6, $7::text[], $8::text[], $9::double precision[], $10, $11, $12, $13, $14, $15) AS claimed`;

/** Claims the next run; returns its row. `listener` is the number that this process's watchers are registered with. */
export async function claimNext(
  database: Queryable,
  listener: string | null,
  { worker, leaseMs, now, kinds, concurrency = {}, workerTypes, watcher, isLast = false }: RunClaim,
): Promise<Row | undefined> {
  const limits = Object.entries(concurrency);
  const values = [
    worker.worker_id,
    worker.host,
    worker.pid,
    worker.pid_started,
    now + leaseMs,
    now,
    workerTypes ?? null,
    limits.map(([type]) => type),
    limits.map(([, limit]) => limit),
    kinds?.includes('orders') !== false,
    kinds?.includes('runs') !== false,
    watcher === undefined ? null : listener,
    watcher ?? null,
    isLast,
  ];
  let waitFor: unknown = null;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { rows } = await database.query(CLAIM, [...values, waitFor]);
    const [row] = rows;
    if (row === undefined || typeof row['id'] === 'string') return row;
    waitFor = row['contended'];
    if (waitFor === null && row['is_more'] !== true) return undefined;
  }
  return undefined;
}
