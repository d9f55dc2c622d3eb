import { setImmediate as giveWay } from 'node:timers/promises';
import { silentLogger } from '../../base/index.js';
import type { Logger } from '../../base/index.js';
import { removePackedRun } from '../../run-folder/index.js';
import type { Upkeep } from '../../store/index.js';
import { sweepFolders } from './sweep-folders.js';
import { createPackedSweep } from './sweep-packed.js';

/** What forgetting needs. */
export interface RetentionOptions {
  readonly store: Upkeep;
  /** The data folder of this machine. */
  readonly data: string;
  readonly settings: RetentionSettings;
  /** How often it looks; every minute by default. */
  readonly everyMs?: number;
  readonly clock?: () => number;
  readonly logger?: Logger;
}

/** Forgetting, under way. */
export interface Retention {
  /** Removes now what is due, within bounds; returns how much was removed. */
  sweep(): Promise<Forgotten>;
  /** Resolves when nothing is being forgotten any more. */
  stop(): Promise<void>;
}

/** What one sweep has let go. */
export interface Forgotten {
  readonly runs: number;
  readonly folders: number;
  readonly delivered: number;
  readonly results: number;
}

const EVERY_MS = 60_000;
/** Bounds of one sweep: what is left is due at the next. */
const RUNS = 200;
const STEPS = 500;
const FOLDERS = 200;
const ROWS = 1000;

/**
 * Lets go, every now and then and a little at a time, of what is older than the settings say. Nothing that waits is touched:
 * runs under way, orders not settled, what a person is asked about, comments on their way.
 *
 * @example
 * const retention = startRetention({ store, data, settings: { runsMs: 30 * 86_400_000 } })
 * await retention.stop()
 */
export function startRetention(options: RetentionOptions): Retention {
  const { store, data, settings, everyMs = EVERY_MS, clock = Date.now, logger = silentLogger } = options;
  const { runsMs, deliveredMs, resultsMs } = settings;
  const packed = createPackedSweep(store, data);
  let removed = 0;
  const removeFiles = async (id: string): Promise<void> => {
    if (await removePackedRun(data, id)) removed += 1;
  };

  async function sweepOnce(): Promise<Forgotten> {
    const now = clock();
    removed = 0;
    const due = { endedBefore: now - (runsMs ?? 0), now, runs: RUNS, steps: STEPS };
    const runs = runsMs === undefined ? 0 : await forgetRuns(store, due, removeFiles);
    const left = async () => (await sweepFolders(store, data, FOLDERS)) + (await packed.sweep(FOLDERS));
    const folders = runsMs === undefined ? 0 : removed + (await left());
    const delivered =
      deliveredMs === undefined ? 0 : await store.forgetDelivered({ before: now - deliveredMs, limit: ROWS });
    const results = resultsMs === undefined ? 0 : await store.forgetResults({ before: now - resultsMs, limit: ROWS });
    const forgotten = { runs, folders, delivered, results };
    if (runs + folders + delivered + results > 0) logger.info('old data removed', forgotten);
    return forgotten;
  }

  let turn: Promise<unknown> = Promise.resolve();
  const sweep = async (): Promise<Forgotten> => {
    const swept = turn.then(sweepOnce);
    turn = swept.catch(() => undefined);
    return swept;
  };
  const hasAges = runsMs !== undefined || deliveredMs !== undefined || resultsMs !== undefined;
  const timer = hasAges
    ? setInterval(() => {
        sweep().catch((error: unknown) => logger.warn('retention failed, trying again', { error: String(error) }));
      }, everyMs)
    : undefined;
  timer?.unref();

  return {
    sweep,
    async stop() {
      clearInterval(timer);
      await turn;
    },
  };
}

/** How long finished things are kept, in milliseconds; what has no age here is kept forever. */
export interface RetentionSettings {
  /** The folders and events of runs, from their end on. */
  readonly runsMs?: number | undefined;
  /** Delivered comments in the outbox, from the moment they were written. */
  readonly deliveredMs?: number | undefined;
  /** Cached results. */
  readonly resultsMs?: number | undefined;
}

/** Events that one transaction deletes: few enough that other transactions do not wait for it. */
const EVENTS_AT_ONCE = 1000;

/**
 * Deletes the events of runs that ended before a moment, at most so many runs and transactions at a time. Returns how
 * many runs are done with.
 */
async function forgetRuns(
  store: Upkeep,
  { endedBefore, now, runs, steps }: { endedBefore: number; now: number; runs: number; steps: number },
  removeFiles: (id: string) => Promise<void>,
): Promise<number> {
  let forgotten = 0;
  let left = steps;
  for (const id of await store.listForgettableRuns({ endedBefore, limit: runs })) {
    let isDone = false;
    for (; !isDone && left > 0; left -= 1) {
      isDone = await store.forgetEvents({ id, limit: EVENTS_AT_ONCE, now });
      await giveWay();
    }
    if (!isDone) continue;
    forgotten += 1;
    await removeFiles(id);
  }
  return forgotten;
}
