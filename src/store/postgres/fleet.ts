import { performance } from 'node:perf_hooks';
import type { WorkerRecord } from '../../records/index.js';
import { deriveWorkerState, GONE_WORKER_TTL_MS, MAX_WORKERS } from '../fleet.js';
import type { Fleet } from '../fleet.js';
import { DATABASE_NOW } from './clock.js';
import type { Context } from './context.js';
import type { Row } from './driver.js';
import { readColumns } from './rows.js';

/** Creates the store's worker methods. */
export function createFleet({ database, clock }: Context): Fleet {
  return {
    // Every report also reads the database clock, so a running worker stays in sync.
    async reportWorker({ id, host, version, engines, capacity, busy, isStopping, now, aliveUntil }) {
      const queriedAt = performance.now();
      const { rows } = await database.query(REPORT, [
        id,
        host,
        version,
        JSON.stringify(engines),
        capacity,
        busy,
        isStopping,
        now,
        aliveUntil,
        now - GONE_WORKER_TTL_MS,
      ]);
      const { number, flag } = readColumns(rows[0] ?? {});
      clock.set(number('now'), queriedAt);
      return { hasExpiredRuns: flag('has_expired') };
    },
    async removeWorker(id) {
      await database.query('DELETE FROM sluice.workers WHERE id = $1', [id]);
    },
    async listWorkers(now) {
      const { rows } = await database.query(
        'SELECT * FROM sluice.workers WHERE alive_until > $1 ORDER BY seen_at DESC, id LIMIT $2',
        [now - GONE_WORKER_TTL_MS, MAX_WORKERS],
      );
      return rows.map((row) => readWorker(row, now));
    },
  };
}

/** Skips rows that another worker is deleting, so worker reports never wait for each other. */
const REPORT = `
  WITH expired AS (
    DELETE FROM sluice.workers WHERE id IN (
      SELECT id FROM sluice.workers WHERE alive_until <= $10 AND id <> $1 FOR UPDATE SKIP LOCKED)
  )
  INSERT INTO sluice.workers (id, host, version, engines, capacity, busy, stopping, seen_at, alive_until)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (id) DO UPDATE SET
    host = EXCLUDED.host, version = EXCLUDED.version, engines = EXCLUDED.engines, capacity = EXCLUDED.capacity,
    busy = EXCLUDED.busy, stopping = EXCLUDED.stopping, seen_at = EXCLUDED.seen_at, alive_until = EXCLUDED.alive_until
  RETURNING ${DATABASE_NOW}, EXISTS (
    SELECT FROM sluice.runs WHERE state IN ('running', 'waiting') AND lease_until <= $8 AND owner_host = $2) AS has_expired`;

function readWorker(row: Row, now: number): WorkerRecord {
  const { text, number, flag, time, json } = readColumns(row);
  return {
    id: text('id'),
    host: text('host'),
    version: text('version'),
    engines: json('engines') as string[],
    capacity: number('capacity'),
    busy: number('busy'),
    seen_at: time('seen_at'),
    state: deriveWorkerState({ aliveUntil: number('alive_until'), isStopping: flag('stopping') }, now),
  };
}
