import { resolve } from 'node:path';
import { createRunFolder, getRunFolderPath, openEventPages, openRun, openRunLogs } from '../run-folder/index.js';
import type { EventPages } from '../run-folder/index.js';
import { comparePositions, getPosition, LOG_START } from '../../events/index.js';
import type { Emitted, LogPosition } from '../../events/index.js';
import { findFirstIndex, isSluiceError } from '../../base/index.js';
import { readEventRange, type EventLog, type EventQuery, type WatchableEventLog } from '../../store/ports/index.js';

/** Maximum runs whose log positions are cached between pages. */
const MAX_RUNS = 64;

const PAGE_SIZE = 1000;

/**
 * Creates an event log backed by the log files in a data folder's run folders. A run writes to its folder directly;
 * `append` is for events from elsewhere and has to read the log.
 *
 * @example
 * const log = createFileEventLog(data)
 * await log.read({ runId, protocol: 'fcmp', after: 17, limit: 100 })
 */
export function createFileEventLog(data: string): EventLog {
  const openedPages = new Map<string, EventPages>();

  async function openPages(runId: string, protocol: EventQuery['protocol']): Promise<EventPages | undefined> {
    const key = `${protocol} ${runId}`;
    const known = openedPages.get(key);
    if (known !== undefined) return known;
    try {
      const pages = openEventPages(await openRun(data, runId), protocol);
      openedPages.set(key, pages);
      if (openedPages.size > 2 * MAX_RUNS) openedPages.delete(openedPages.keys().next().value ?? key);
      return pages;
    } catch (error) {
      if (isSluiceError(error) && error.code === 'RUN_FOLDER_NOT_FOUND') return undefined;
      throw error;
    }
  }

  async function findLastPosition(runId: string, protocol: EventQuery['protocol']): Promise<LogPosition> {
    const pages = await openPages(runId, protocol);
    for (let last = LOG_START; ;) {
      const page = (await pages?.read({ after: last, limit: PAGE_SIZE })) ?? [];
      const [end] = page.slice(-1);
      if (end === undefined) return last;
      last = getPosition(end);
    }
  }

  let queue: Promise<void> = Promise.resolve();

  async function append(runId: string, events: readonly Emitted[]): Promise<void> {
    const folder = await createRunFolder(getRunFolderPath(data, runId), { trustedRoot: data });
    const last = { rasp: await findLastPosition(runId, 'rasp'), fcmp: await findLastPosition(runId, 'fcmp') };
    const newEvents = events.filter((emitted) => {
      const position = getPosition(emitted);
      if (comparePositions(last[emitted.protocol], position) >= 0) return false;
      last[emitted.protocol] = position;
      return true;
    });
    const logs = await openRunLogs(folder);
    try {
      await logs.append(newEvents);
    } finally {
      await logs.close();
    }
  }

  return {
    dataFolder: resolve(data),
    async append(runId, events) {
      const done = queue.then(async () => append(runId, events));
      queue = done.catch(() => undefined);
      return done;
    },
    async read(query) {
      const range = readEventRange(query);
      return (await openPages(query.runId, query.protocol))?.read(range) ?? [];
    },
  };
}

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
