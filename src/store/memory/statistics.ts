import { countRun } from '../roll-up.js';
import { createDigest } from '../run-digest.js';
import { inboxFigures } from '../statistics.js';
import type { Statistics } from '../statistics.js';
import { checkOpen, type Tables } from './tables.js';

/** Figures over time. Every run is counted when it is asked for: a store in memory has few. */
export function createStatistics(tables: Tables): Statistics {
  return {
    async listRunSlots({ since, until }) {
      checkOpen(tables);
      return [...tables.runs.values()].flatMap(({ record: { spec, started_at, ended_at, result } }) => {
        const endedAt = ended_at === null ? Number.NaN : Date.parse(ended_at);
        if (result === null || !(endedAt >= since && endedAt < until)) return [];
        const startedAt = started_at === null ? null : Date.parse(started_at);
        const figure = { engine: spec.engine, ...createDigest(result), started_at: startedAt, ended_at: endedAt };
        return [{ at: endedAt, engine: spec.engine, counts: countRun(figure) }];
      });
    },

    async countEndedRuns() {
      checkOpen(tables);
      return 0;
    },

    async listInboxFigures(span) {
      checkOpen(tables);
      const newest = [...tables.inbox.values()].toSorted((one, other) => other.sequence - one.sequence);
      const recent = newest.slice(0, span.limit);
      const open = newest.filter(({ record }) => record.resolution === null).slice(0, span.limit);
      return inboxFigures(new Set([...recent, ...open].map(({ record }) => record)), span);
    },
  };
}
