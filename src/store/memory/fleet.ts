import { deriveWorkerState, GONE_WORKER_TTL_MS, MAX_WORKERS } from '../fleet.js';
import type { Fleet } from '../fleet.js';
import { hasExpired } from './claim-run.js';
import { checkOpen, type Tables } from './tables.js';

/** Creates the store's worker methods. */
export function createFleet(tables: Tables): Fleet {
  const { workers } = tables;
  return {
    async reportWorker(report) {
      checkOpen(tables);
      for (const { id, aliveUntil } of workers.values()) {
        if (aliveUntil <= report.now - GONE_WORKER_TTL_MS) workers.delete(id);
      }
      workers.set(report.id, structuredClone(report));
      return { hasExpiredRuns: hasExpired(tables, report.now, report.host) };
    },
    async removeWorker(id) {
      checkOpen(tables);
      workers.delete(id);
    },
    async listWorkers(now) {
      checkOpen(tables);
      return [...workers.values()]
        .filter(({ aliveUntil }) => aliveUntil > now - GONE_WORKER_TTL_MS)
        .toSorted((a, b) => b.now - a.now || (a.id < b.id ? -1 : 1))
        .slice(0, MAX_WORKERS)
        .map((report) => {
          const { now: seenAt, aliveUntil: _, isStopping: __, ...worker } = report;
          return { ...worker, seen_at: new Date(seenAt).toISOString(), state: deriveWorkerState(report, now) };
        });
    },
  };
}
