import { setImmediate as giveWay } from 'node:timers/promises';
import { silentLogger } from '../../base/index.js';
import type { Logger } from '../../base/index.js';
import type { Forgetting, Upkeep } from '../../store/index.js';
import { repeatSweep } from '../repeat-sweep.js';
import type { Duty } from '../run-by-one-process.js';
import { createFolderSweep } from './sweep-folders.js';

/** Options for retention. */
export interface RetentionOptions {
  readonly store: Forgetting & Pick<Upkeep, 'findRunsWithoutEvents'>;
  /** The data folder of this machine. */
  readonly data: string;
  readonly settings: RetentionSettings;
  /** How often folders of this machine are removed; every minute by default. */
  readonly everyMs?: number;
  readonly clock?: () => number;
  readonly logger?: Logger;
}

/** How long finished things are kept, in milliseconds; what has no age here is kept forever. */
export interface RetentionSettings {
  /** The folders and events of runs, from their end on. */
  readonly runsMs?: number | undefined;
  /** The records of runs, with their orders, executions and resolved inbox items, from their end on; not less than `runsMs`. */
  readonly recordsMs?: number | undefined;
  /** Delivered comments in the outbox, from the moment they were written. */
  readonly deliveredMs?: number | undefined;
  /** Cached results. */
  readonly resultsMs?: number | undefined;
  /** Mirrors of repositories that the configuration no longer names, from their last use on; 30 days by default. */
  readonly mirrorsMs?: number | undefined;
}

/** Retention, in progress. */
export interface Retention {
  /** Deletes old data from the store: one process does it for all. Undefined if nothing is deleted. */
  readonly duty: Duty | undefined;
  /** Deletes from the store what is due now; returns how much. */
  sweepStore(signal?: AbortSignal): Promise<Forgotten>;
  /** Removes the folders of forgotten runs on this machine; returns how many. */
  sweepFolders(): Promise<number>;
  /** Resolves when nothing is being removed any more. */
  stop(): Promise<void>;
}

/** The number of deleted entries of one sweep. */
export interface Forgotten {
  readonly runs: number;
  readonly records: number;
  readonly delivered: number;
  readonly results: number;
}

const EVERY_MS = 60_000;
/** A sweep of the store ends after this time; the rest is due at the next. */
const SWEEP_MS = 50_000;
/** Runs deleted in one transaction: few enough not to block other transactions. */
const RUNS_AT_ONCE = 100;
const ROWS_AT_ONCE = 1000;
/** Records stay for a day after a run was forgotten: folders are removed by the machines that have them, while the store knows. */
const FOLDERS_MS = 86_400_000;
/** Records that cannot be deleted yet are examined again after so long. */
const RECORDS_EVERY_MS = 60 * 60 * 1000;

/**
 * Deletes what is older than the settings say, a little at a time. Nothing that waits is touched: runs that have not ended,
 * orders not settled, what a person is asked about, comments on their way.
 *
 * @example
 * const retention = startRetention({ store, data, settings: { runsMs: 30 * 86_400_000 } })
 * await retention.stop()
 */
export function startRetention(options: RetentionOptions): Retention {
  const { store, data, settings, everyMs = EVERY_MS, clock = Date.now, logger = silentLogger } = options;
  const { runsMs, recordsMs, deliveredMs, resultsMs } = settings;
  const folders = createFolderSweep({ store, data, clock });
  const records = createRecordSweep(store, clock);

  async function sweepStore(signal?: AbortSignal): Promise<Forgotten> {
    const until = performance.now() + SWEEP_MS;
    const mayGoOn = (): boolean => performance.now() < until && signal?.aborted !== true;
    const now = clock();
    const runs = runsMs === undefined ? 0 : await forgetRuns(store, { endedBefore: now - runsMs, clock, mayGoOn });
    const drop = async (ageMs: number | undefined, forget: Forgetting['forgetDelivered']): Promise<number> =>
      ageMs === undefined ? 0 : dropAll(async () => forget({ before: now - ageMs, limit: ROWS_AT_ONCE }), mayGoOn);
    const forgotten = {
      runs,
      records: recordsMs === undefined ? 0 : await records.sweep(now - recordsMs, mayGoOn),
      delivered: await drop(deliveredMs, async (wanted) => store.forgetDelivered(wanted)),
      results: await drop(resultsMs, async (wanted) => store.forgetResults(wanted)),
    };
    if (Object.values(forgotten).some((count) => count > 0)) logger.info('old data deleted', forgotten);
    return forgotten;
  }

  const sweeps = repeatSweep({
    name: 'removing folders of old runs',
    everyMs: runsMs === undefined ? undefined : everyMs,
    logger,
    async work() {
      const removed = await folders.sweep();
      if (removed > 0) logger.info('folders of old runs removed', { folders: removed });
      return removed;
    },
  });

  const hasAges = [runsMs, recordsMs, deliveredMs, resultsMs].some((age) => age !== undefined);
  return {
    duty: hasAges ? { name: 'retention', everyMs: EVERY_MS, work: sweepStore } : undefined,
    sweepStore,
    sweepFolders: sweeps.sweep,
    async stop() {
      folders.stop();
      await sweeps.stop();
    },
  };
}

async function forgetRuns(
  store: Forgetting,
  wanted: { readonly endedBefore: number; readonly clock: () => number; readonly mayGoOn: () => boolean },
): Promise<number> {
  const { endedBefore, clock, mayGoOn } = wanted;
  let forgotten = 0;
  let isDone = false;
  while (!isDone && mayGoOn()) {
    const step = await store.forgetRuns({ endedBefore, runs: RUNS_AT_ONCE, rows: ROWS_AT_ONCE, now: clock() });
    forgotten += step.ids.length;
    isDone = step.isDone;
    await giveWay();
  }
  return forgotten;
}

async function dropAll(drop: () => Promise<number>, mayGoOn: () => boolean): Promise<number> {
  let total = 0;
  let dropped = ROWS_AT_ONCE;
  while (dropped >= ROWS_AT_ONCE && mayGoOn()) {
    dropped = await drop();
    total += dropped;
    await giveWay();
  }
  return total;
}

/** Goes through the forgotten runs in bounded steps; those whose records must stay are not examined again and again. */
function createRecordSweep(store: Forgetting, clock: () => number) {
  let cursor: string | undefined;
  let nextPass = 0;
  return {
    async sweep(endedBefore: number, mayGoOn: () => boolean): Promise<number> {
      let total = 0;
      while (clock() >= nextPass && mayGoOn()) {
        const wanted = { endedBefore, forgottenBefore: clock() - FOLDERS_MS, limit: RUNS_AT_ONCE, cursor };
        const { deleted, next_cursor } = await store.forgetRecords(wanted);
        total += deleted;
        cursor = next_cursor ?? undefined;
        if (next_cursor === null) nextPass = clock() + RECORDS_EVERY_MS;
        await giveWay();
      }
      return total;
    },
  };
}
