import { findFirstIndex } from '../../base/index.js';
import { comparePositions, getPosition } from '../../events/index.js';
import type { LogPosition } from '../../events/index.js';
import { readEventRange } from '../../runs/index.js';
import type { WatchableEventLog } from '../../runs/index.js';
import { checkOpen, copyValue, type StoredEvent, type Tables } from './tables.js';

/** Creates the store's event log methods. Events are ordered by position for each run and protocol. */
export function createEventLog(tables: Tables): WatchableEventLog {
  const { events: logs } = tables;
  return {
    async append(runId, events) {
      checkOpen(tables);
      for (const emitted of events) {
        const key = `${emitted.protocol} ${runId}`;
        const log = logs.get(key) ?? [];
        logs.set(key, log);
        const position = getPosition(emitted);
        const index = findFirstAfter(log, position);
        const before = log[index - 1];
        if (before === undefined || comparePositions(before, position) < 0) {
          log.splice(index, 0, { ...position, emitted: copyValue(emitted) });
        }
      }
      if (events.length > 0) tables.wakers.wake(runId);
    },

    async read(query) {
      checkOpen(tables);
      const { after, to, limit } = readEventRange(query);
      const log = logs.get(`${query.protocol} ${query.runId}`) ?? [];
      const from = findFirstAfter(log, after);
      return log.slice(from, Math.min(from + limit, findFirstAfter(log, to))).map(({ emitted }) => copyValue(emitted));
    },

    watch(runId, wake) {
      checkOpen(tables);
      return tables.wakers.watch(runId, wake);
    },
  };
}

/** Returns the index of the first event after a position. */
function findFirstAfter(log: readonly StoredEvent[], position: LogPosition): number {
  return findFirstIndex(log, (stored) => comparePositions(stored, position) > 0);
}
