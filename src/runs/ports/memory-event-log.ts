import { findFirstIndex } from '../../base/index.js';
import { comparePositions, getPosition } from '../../events/index.js';
import type { Emitted, LogPosition } from '../../events/index.js';
import type { EventQuery, WatchableEventLog } from './event-log.js';
import { readEventRange } from './event-log.js';

/** Runs that are remembered; the oldest is forgotten first. */
const MAX_RUNS = 256;

type RunEvents = Record<EventQuery['protocol'], Emitted[]>;

/**
 * Keeps the events of the last runs in memory: for tests, and for programs that need no history.
 *
 * @example
 * const run = startRun(spec, { eventLog: createMemoryEventLog() })
 */
export function createMemoryEventLog(options: { readonly runs?: number } = {}): WatchableEventLog {
  const { runs = MAX_RUNS } = options;
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
        const kept = log[emitted.protocol];
        const last = kept.at(-1);
        if (last === undefined || comparePositions(getPosition(last), getPosition(emitted)) < 0) kept.push(emitted);
      }
      for (const wake of watchers.get(runId) ?? []) wake();
    },
    async read(query) {
      const { after, to, limit } = readEventRange(query);
      const kept = logs.get(query.runId)?.[query.protocol] ?? [];
      const firstAfter = (place: LogPosition) =>
        findFirstIndex(kept, (emitted) => comparePositions(getPosition(emitted), place) > 0);
      const from = firstAfter(after);
      return kept.slice(from, Math.min(from + limit, firstAfter(to)));
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
