import { comparePositions, getPosition } from '../../events/index.js';
import type { Emitted, LogPosition } from '../../events/index.js';
import { findFirstIndex } from '../../base/index.js';
import { readEventRange, type EventQuery, type WatchableEventLog } from '../../store/ports/index.js';

/** Maximum stored runs; the oldest is dropped first. */
const MAX_MEMORY_RUNS = 256;

type RunEvents = Record<EventQuery['protocol'], Emitted[]>;

/**
 * Creates an event log that keeps the events of recent runs in memory, for tests and for programs that need no history.
 *
 * @example
 * const run = startRun(spec, { eventLog: createMemoryEventLog() })
 */
export function createMemoryEventLog(options: { readonly runs?: number } = {}): WatchableEventLog {
  const { runs = MAX_MEMORY_RUNS } = options;
  const logs = new Map<string, RunEvents>();
  const watchers = new Map<string, Set<() => void>>();

  function open(runId: string): RunEvents {
    const log = logs.get(runId) ?? { rasp: [], fcmp: [] };
    logs.set(runId, log);
    if (logs.size > runs) logs.delete(logs.keys().next().value ?? runId);
    return log;
  }

  return {
    async append(runId, events) {
      const log = open(runId);
      for (const emitted of events) {
        const storedEvents = log[emitted.protocol];
        const last = storedEvents.at(-1);
        if (last === undefined || comparePositions(getPosition(last), getPosition(emitted)) < 0)
          storedEvents.push(emitted);
      }
      for (const wake of watchers.get(runId) ?? []) wake();
    },
    async read(query) {
      const { after, to, limit } = readEventRange(query);
      const storedEvents = logs.get(query.runId)?.[query.protocol] ?? [];
      const findFirstAfter = (position: LogPosition) =>
        findFirstIndex(storedEvents, (emitted) => comparePositions(getPosition(emitted), position) > 0);
      const from = findFirstAfter(after);
      return storedEvents.slice(from, Math.min(from + limit, findFirstAfter(to)));
    },
    watch(runId, wake) {
      const waiting = watchers.get(runId) ?? new Set();
      watchers.set(runId, waiting.add(wake));
      return () => {
        waiting.delete(wake);
        if (waiting.size === 0) watchers.delete(runId);
      };
    },
  };
}
