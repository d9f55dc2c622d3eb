import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { silentLogger, type Logger, getErrorCode } from '../../../base/index.js';
import type { Maintenance, Retention } from '../../../store/index.js';
import { repeatSweep } from '../repeat-work.js';
import type { BackgroundJob } from '../run-by-one-process.js';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Archive } from '../../../runs/archive/index.js';
import { makeFolder, parseJson, replaceFile, chooseFolder, listNames } from '../../../base/files/index.js';
import { PACKED_FOLDER, removePackedRun, removeRunFolder } from '../../../runs/run-folder/index.js';

export interface RetentionOptions {
  readonly store: Retention & Pick<Maintenance, 'findRunsWithoutEvents'>;
  /** This host's data folder. */
  readonly data: string;
  readonly settings: RetentionSettings;
  /** How often this host's folders are removed; every minute by default. */
  readonly everyMs?: number;
  readonly clock?: () => number;
  readonly logger?: Logger;
}

/** How long data is kept, in milliseconds; without a setting, it is kept forever. */
export interface RetentionSettings {
  /** The folders and events of runs, after their end. */
  readonly runsMs?: number | undefined;
  /** The records of runs, with their orders, executions and resolved inbox items, after their end; not less than `runsMs`. */
  readonly recordsMs?: number | undefined;
  /** Delivered comments in the outbox, after they were written. */
  readonly deliveredMs?: number | undefined;
  /** Cached results. */
  readonly resultsMs?: number | undefined;
  /** Mirrors of repositories that the configuration no longer names, after their last use; 30 days by default. */
  readonly mirrorsMs?: number | undefined;
}

export interface RetentionSweep {
  /** Deletes old data from the store: one process does it for all. Undefined if nothing is deleted. */
  readonly job: BackgroundJob | undefined;
  /** Deletes the data that is due from the store; returns the number of entries. */
  sweepStore(signal?: AbortSignal): Promise<SweepCounts>;
  /** Removes the folders of purged runs on this machine; returns how many. */
  sweepFolders(): Promise<number>;
  /** Stops removing; resolves when the current removal has finished. */
  stop(): Promise<void>;
}

/** The number of entries that one sweep deleted. */
export interface SweepCounts {
  readonly runs: number;
  readonly records: number;
  readonly delivered: number;
  readonly results: number;
}

const EVERY_MS = 60_000;
/** A sweep of the store ends after this time; the rest is left for the next sweep. */
const SWEEP_MS = 50_000;
/** The number of runs deleted in one transaction: few enough not to block other transactions. */
const RUNS_PER_STEP = 100;
const ROWS_PER_STEP = 2500;
/** Records are kept for a day after a run was purged, so each host can find and remove the run's folder. */
const FOLDERS_MS = 86_400_000;
/** The delay after a complete pass, before records that could not be deleted are examined again. */
const RECORDS_EVERY_MS = 60 * 60 * 1000;

/**
 * Deletes data that is older than the settings allow, in small steps. Unfinished work is never touched: runs that have not
 * ended, orders that are not settled, open inbox items, undelivered comments.
 */
export function startRetention(options: RetentionOptions): RetentionSweep {
  const { store, data, settings, everyMs = EVERY_MS, clock = Date.now, logger = silentLogger } = options;
  const { runsMs, recordsMs, deliveredMs, resultsMs } = settings;
  const folders = createFolderSweep({ store, data, clock });
  const records = createRecordSweep(store, clock);

  async function sweepStore(signal?: AbortSignal): Promise<SweepCounts> {
    const until = performance.now() + SWEEP_MS;
    const mayContinue = (): boolean => performance.now() < until && signal?.aborted !== true;
    const now = clock();
    const runs = runsMs === undefined ? 0 : await purgeRuns(store, { endedBefore: now - runsMs, clock, mayContinue });
    const deleteOld = async (ageMs: number | undefined, purge: Retention['purgeDelivered']): Promise<number> =>
      ageMs === undefined
        ? 0
        : deleteAll(async () => purge({ before: now - ageMs, limit: ROWS_PER_STEP }), mayContinue);
    const purged = {
      runs,
      records: recordsMs === undefined ? 0 : await records.sweep(now - recordsMs, mayContinue),
      delivered: await deleteOld(deliveredMs, async (filter) => store.purgeDelivered(filter)),
      results: await deleteOld(resultsMs, async (filter) => store.purgeResults(filter)),
    };
    if (Object.values(purged).some((count) => count > 0)) logger.info('old data deleted', purged);
    return purged;
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
    job: hasAges ? { name: 'retention', everyMs: EVERY_MS, work: sweepStore } : undefined,
    sweepStore,
    sweepFolders: sweeps.sweep,
    async stop() {
      folders.stop();
      await sweeps.stop();
    },
  };
}

async function purgeRuns(
  store: Retention,
  options: { readonly endedBefore: number; readonly clock: () => number; readonly mayContinue: () => boolean },
): Promise<number> {
  const { endedBefore, clock, mayContinue } = options;
  let purged = 0;
  let isDone = false;
  while (!isDone && mayContinue()) {
    const step = await store.purgeRuns({ endedBefore, runs: RUNS_PER_STEP, rows: ROWS_PER_STEP, now: clock() });
    purged += step.ids.length;
    isDone = step.isDone;
    await yieldToEvents();
  }
  return purged;
}

async function deleteAll(deleteStep: () => Promise<number>, mayContinue: () => boolean): Promise<number> {
  let total = 0;
  let deletedRows = ROWS_PER_STEP;
  while (deletedRows >= ROWS_PER_STEP && mayContinue()) {
    deletedRows = await deleteStep();
    total += deletedRows;
    await yieldToEvents();
  }
  return total;
}

/** Deletes the records of purged runs in bounded steps. After a complete pass, the next pass starts an hour later. */
function createRecordSweep(store: Retention, clock: () => number) {
  let cursor: string | undefined;
  let nextPass = 0;
  return {
    async sweep(endedBefore: number, mayContinue: () => boolean): Promise<number> {
      let total = 0;
      while (clock() >= nextPass && mayContinue()) {
        const step = { endedBefore, purgedBefore: clock() - FOLDERS_MS, limit: RUNS_PER_STEP, cursor };
        const { deleted, next_cursor } = await store.purgeRecords(step);
        total += deleted;
        cursor = next_cursor ?? undefined;
        if (next_cursor === null) nextPass = clock() + RECORDS_EVERY_MS;
        await yieldToEvents();
      }
      return total;
    },
  };
}

/** Options for removing archived runs. */
export interface ArchiveJobOptions {
  readonly store: Pick<Retention, 'listPurgedRuns'>;
  readonly archive: Pick<Archive, 'location' | 'remove'>;
  /** The data folder, in which the progress is recorded. */
  readonly data: string;
  readonly clock?: () => number;
}

const ARCHIVE_EVERY_MS = 60_000;
const PAGE_LENGTH = 100;
const CONCURRENCY = 4;
/** A run may become visible after the time with which it is marked: its transaction commits later, and clocks differ. */
const OVERLAP_MS = 120_000;

/**
 * Removes purged runs from the archive; one process does it for all. Its progress is recorded in a file, so that no run is
 * missed after a restart or while the archive is down. Removing a run twice is harmless.
 */
export function createArchiveJob({ store, archive, data, clock = Date.now }: ArchiveJobOptions): BackgroundJob {
  const path = join(data, PACKED_FOLDER, 'forgotten.json');

  async function work(signal: AbortSignal): Promise<void> {
    const startedAt = clock();
    let { since, cursor } = readProgress(await readFile(path, 'utf8').catch(() => ''), archive.location);
    while (!signal.aborted) {
      const page = await store.listPurgedRuns({
        since,
        limit: PAGE_LENGTH,
        ...(cursor === null ? {} : { cursor }),
      });
      for (let at = 0; at < page.items.length; at += CONCURRENCY) {
        await Promise.all(page.items.slice(at, at + CONCURRENCY).map(async (id) => archive.remove(id)));
      }
      cursor = page.next_cursor;
      if (cursor === null) since = Math.max(since, startedAt - OVERLAP_MS);
      await makeFolder(join(data, PACKED_FOLDER));
      await replaceFile(path, JSON.stringify({ place: archive.location, since, cursor }));
      if (cursor === null) return;
    }
  }

  return { name: 'archive retention', everyMs: ARCHIVE_EVERY_MS, work };
}

interface Progress {
  readonly since: number;
  readonly cursor: string | null;
}

/** Reads the progress; that of another archive is ignored, because nothing has been removed from this one yet. */
function readProgress(text: string, location: string): Progress {
  const value = parseJson(text);
  const isOurs = typeof value === 'object' && value !== null && 'place' in value && value.place === location;
  if (!isOurs || !('since' in value && 'cursor' in value)) return { since: 0, cursor: null };
  const { since, cursor } = value;
  return {
    since: typeof since === 'number' && Number.isSafeInteger(since) ? since : 0,
    cursor: typeof cursor === 'string' ? cursor : null,
  };
}

/** Options for removing folders. */
interface FolderSweepOptions {
  readonly store: Pick<Retention, 'listPurgedRuns'> & Pick<Maintenance, 'findRunsWithoutEvents'>;
  readonly data: string;
  readonly clock: () => number;
}

/** The number of names per store query, and of ids per result page. */
const NAMES_PER_QUERY = 500;

/**
 * Removes the folders and packed files of purged runs on this machine. The first sweep compares all of them with the store;
 * later sweeps only query which runs have been purged since. A folder whose run is not in the store belongs to something
 * else and is kept. If a run cannot be removed, the sweep throws the first error at its end, and the next sweep tries again.
 */
function createFolderSweep({ store, data, clock }: FolderSweepOptions) {
  let since: number | undefined;
  let failures: unknown[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;

  async function removeAll(ids: readonly string[]): Promise<number> {
    let removed = 0;
    const remove = async (id: string): Promise<void> => {
      try {
        if (await removeFiles(data, id)) removed += 1;
      } catch (error) {
        // A run that cannot be removed must not prevent the others from being removed.
        failures.push(error);
      }
    };
    for (let at = 0; at < ids.length && !signal.aborted; at += CONCURRENCY) {
      await Promise.all(ids.slice(at, at + CONCURRENCY).map(remove));
    }
    return removed;
  }

  async function sweepListed(): Promise<number> {
    let removed = 0;
    for await (const ids of listRuns(data)) {
      if (signal.aborted) break;
      removed += await removeAll(await store.findRunsWithoutEvents(ids));
    }
    return removed;
  }

  async function sweepSince(from: number): Promise<number> {
    let removed = 0;
    let cursor: string | null | undefined;
    while (cursor !== null && !signal.aborted) {
      const page = await store.listPurgedRuns({
        since: from,
        limit: NAMES_PER_QUERY,
        ...(cursor === undefined ? {} : { cursor }),
      });
      removed += await removeAll(page.items);
      cursor = page.next_cursor;
    }
    return removed;
  }

  return {
    async sweep(): Promise<number> {
      const startedAt = clock();
      failures = [];
      const removed = since === undefined ? await sweepListed() : await sweepSince(since);
      if (failures.length > 0) throw failures[0];
      if (!signal.aborted) since = startedAt - OVERLAP_MS;
      return removed;
    },
    stop(): void {
      stopping.abort();
    },
  };
}

/** Removes a run's folder and packed file; returns false if neither exists. */
async function removeFiles(data: string, id: string): Promise<boolean> {
  try {
    const hasFolder = await removeRunFolder(data, id);
    return (await removePackedRun(data, id)) || hasFolder;
  } catch (error) {
    // Runs started by a library user can have ids that are not valid folder names.
    if (getErrorCode(error) === 'INVALID_RUN_ID') return false;
    throw error;
  }
}

/** Lists the ids of all runs that have a folder or a packed file here, in batches. */
async function* listRuns(data: string): AsyncGenerator<readonly string[]> {
  yield* listNames(join(data, 'runs'), NAMES_PER_QUERY, chooseFolder);
  const packed = join(data, PACKED_FOLDER);
  for await (const shards of listNames(packed, NAMES_PER_QUERY, ({ name }) => (SHARD.test(name) ? name : undefined))) {
    for (const shard of shards) {
      yield* listNames(join(packed, shard), NAMES_PER_QUERY, ({ name }) =>
        name.endsWith(PACKED_ENDING) ? name.slice(0, -PACKED_ENDING.length) : undefined,
      );
    }
  }
}

const SHARD = /^[0-9a-f]{3}$/u;
const PACKED_ENDING = '.zip';
