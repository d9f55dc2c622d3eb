import type { WorkerRecord } from '../../records/index.js';
import { deriveWorkerState, GONE_WORKER_TTL_MS, MAX_WORKERS } from '../fleet.js';
import type { Fleet } from '../fleet.js';
import { FIND_ANY_EXPIRED } from './claim-run.js';
import type { Database } from './database.js';
import type { SqlRow } from './driver.js';
import { readInteger, readJson, readText, readTime } from './rows.js';

/** Creates the store's worker methods. */
export function createFleet(database: Database): Fleet {
  const deleteGone = database.prepare('DELETE FROM workers WHERE alive_until <= ?');
  const report = database.prepare(`
    INSERT OR REPLACE INTO workers (id, host, version, engines, capacity, busy, stopping, seen_at, alive_until)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const findAnyExpired = database.prepare(FIND_ANY_EXPIRED);
  const remove = database.prepare('DELETE FROM workers WHERE id = ?');
  const list = database.prepare('SELECT * FROM workers WHERE alive_until > ? ORDER BY seen_at DESC, id LIMIT ?');
  return {
    async reportWorker({ id, host, version, engines, capacity, busy, isStopping, now, aliveUntil }) {
      return database.write(() => {
        deleteGone.run(now - GONE_WORKER_TTL_MS);
        report.run(id, host, version, JSON.stringify(engines), capacity, busy, isStopping ? 1 : 0, now, aliveUntil);
        return { hasExpiredRuns: findAnyExpired.get(now, host) !== undefined };
      });
    },
    async removeWorker(id) {
      await database.write(() => remove.run(id));
    },
    listWorkers: async (now) =>
      database.read(() => list.all(now - GONE_WORKER_TTL_MS, MAX_WORKERS).map((row) => readWorker(row, now))),
  };
}

function readWorker(row: SqlRow, now: number): WorkerRecord {
  return {
    id: readText(row, 'id'),
    host: readText(row, 'host'),
    version: readText(row, 'version'),
    engines: readJson(row, 'engines') as string[],
    capacity: readInteger(row, 'capacity'),
    busy: readInteger(row, 'busy'),
    seen_at: readTime(row, 'seen_at'),
    state: deriveWorkerState(
      { aliveUntil: readInteger(row, 'alive_until'), isStopping: readInteger(row, 'stopping') === 1 },
      now,
    ),
  };
}
