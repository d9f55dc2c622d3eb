import { createHistory } from '../inbox-roll-up.js';
import { toRunSlot } from '../roll-up.js';
import { createDigest } from '../run-digest.js';
import type { Statistics } from '../statistics.js';
import { checkOpen, type Tables } from './tables.js';

/** Creates the store's statistics methods. Everything is counted on request, because an in-memory store is small. */
export function createStatistics(tables: Tables): Statistics {
  return {
    async listRunSlots({ since, until }) {
      checkOpen(tables);
      return [...tables.runs.values()].flatMap(({ record: { spec, started_at, ended_at, result } }) => {
        const endedAt = ended_at === null ? Number.NaN : Date.parse(ended_at);
        if (result === null || !(endedAt >= since && endedAt < until)) return [];
        const startedAt = started_at === null ? null : Date.parse(started_at);
        const sample = { engine: spec.engine, ...createDigest(result), started_at: startedAt, ended_at: endedAt };
        return [toRunSlot(sample)];
      });
    },

    async countEndedRuns() {
      checkOpen(tables);
      return 0;
    },

    async readInboxHistory({ since }) {
      checkOpen(tables);
      return createHistory(
        [...tables.inbox.values()].map(({ record }) => record),
        since,
      );
    },

    async countInboxItems() {
      checkOpen(tables);
      return 0;
    },
  };
}
