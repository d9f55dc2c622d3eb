import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { getErrorCode, omitUndefined, silentLogger, type Logger } from '../../../base/index.js';
import type { Maintenance, Retention } from '../../../store/index.js';
import type { BackgroundJob } from '../repeat-work.js';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Archive } from '../../../runs/archive/index.js';
import { makeFolder, parseJson, replaceFile, chooseFolder, listNames } from '../../../base/files/index.js';
import { PACKED_FOLDER, removePackedRun, removeRunFolder } from '../../../runs/run-folder/index.js';

interface RetentionOptions {
  readonly store: Retention & Pick<Maintenance, 'findRunsWithoutEvents'>;
  /** This host's data folder. */
  readonly data: string;
  readonly settings: RetentionSettings;
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
 * Creates the jobs that delete data older than the settings allow, in small steps. Unfinished work is never touched: runs
 * that have not ended, orders that are not settled, open inbox items, undelivered comments. One process deletes from the
 * store for all, and each host its own folders. A job is undefined if it has nothing to delete.
 */
export function createRetention(options: RetentionOptions) {
  const { store, data, settings, clock = Date.now, logger = silentLogger } = options;
  const { runsMs, recordsMs, deliveredMs, resultsMs } = settings;
  const sweepFolders = createFolderSweep({ store, data, clock });
  let recordsCursor: string | undefined;
  let nextRecordsPass = 0;

  /** Deletes the data that is due from the store; returns the number of entries. */
  async function sweepStore(signal?: AbortSignal) {
    const until = performance.now() + SWEEP_MS;
    const mayContinue = (): boolean => performance.now() < until && signal?.aborted !== true;
    const now = clock();
    /** Repeats a step that deletes the data of one kind, until it finds no more. */
    const deleteAll = async (ageMs: number | undefined, deleteStep: (before: number) => Promise<Deleted>) => {
      let total = 0;
      let isDone = ageMs === undefined;
      while (!isDone && mayContinue()) {
        const step = await deleteStep(now - (ageMs ?? 0));
        total += step.deleted;
        isDone = step.isDone;
        await yieldToEvents();
      }
      return total;
    };
    const deleteRows = async (ageMs: number | undefined, purge: Retention['purgeDelivered']) =>
      deleteAll(ageMs, async (before) => {
        const deleted = await purge({ before, limit: ROWS_PER_STEP });
        return { deleted, isDone: deleted < ROWS_PER_STEP };
      });
    const purged = {
      runs: await deleteAll(runsMs, async (endedBefore) => {
        const step = { endedBefore, runs: RUNS_PER_STEP, rows: ROWS_PER_STEP, now: clock() };
        const { ids, isDone } = await store.purgeRuns(step);
        return { deleted: ids.length, isDone };
      }),
      // After a complete pass, the next pass starts an hour later.
      records: clock() < nextRecordsPass ? 0 : await deleteAll(recordsMs, deleteRecords),
      delivered: await deleteRows(deliveredMs, async (filter) => store.purgeDelivered(filter)),
      results: await deleteRows(resultsMs, async (filter) => store.purgeResults(filter)),
    };
    if (Object.values(purged).some((count) => count > 0)) logger.info('old data deleted', purged);
    return purged;
  }

  async function deleteRecords(endedBefore: number): Promise<Deleted> {
    const step = { endedBefore, purgedBefore: clock() - FOLDERS_MS, limit: RUNS_PER_STEP, cursor: recordsCursor };
    const { deleted, next_cursor } = await store.purgeRecords(step);
    recordsCursor = next_cursor ?? undefined;
    if (next_cursor === null) nextRecordsPass = clock() + RECORDS_EVERY_MS;
    return { deleted, isDone: next_cursor === null };
  }

  async function removeFolders(signal: AbortSignal): Promise<number> {
    const removed = await sweepFolders(signal);
    if (removed > 0) logger.info('folders of old runs removed', { folders: removed });
    return removed;
  }

  const hasAges = [runsMs, recordsMs, deliveredMs, resultsMs].some((age) => age !== undefined);
  const storeJob = { name: 'retention', everyMs: EVERY_MS, work: sweepStore };
  const folderJob = { name: 'removing folders of old runs', everyMs: EVERY_MS, work: removeFolders };
  return {
    storeJob: hasAges ? storeJob : undefined,
    folderJob: runsMs === undefined ? undefined : folderJob,
    sweepStore,
    removeFolders,
  };
}

/** The number of entries that one step deleted, and whether nothing is left to delete now. */
interface Deleted {
  readonly deleted: number;
  readonly isDone: boolean;
}

/** Options for removing archived runs. */
interface ArchiveJobOptions {
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
      const page = await store.listPurgedRuns({ since, limit: PAGE_LENGTH, ...(cursor === null ? {} : { cursor }) });
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

/** Reads the progress; that of another archive is ignored, because nothing has been removed from this one yet. */
function readProgress(text: string, location: string): { readonly since: number; readonly cursor: string | null } {
  const value = parseJson(text);
  const isOurs = typeof value === 'object' && value !== null && 'place' in value && value.place === location;
  if (!isOurs || !('since' in value && 'cursor' in value)) return { since: 0, cursor: null };
  const { since, cursor } = value;
  return {
    since: typeof since === 'number' && Number.isSafeInteger(since) ? since : 0,
    cursor: typeof cursor === 'string' ? cursor : null,
  };
}

/** The number of names per store query, and of ids per result page. */
const NAMES_PER_QUERY = 500;

/**
 * Removes the folders and packed files of purged runs on this machine. The first sweep compares all of them with the store;
 * later sweeps only query which runs have been purged since. A folder whose run is not in the store belongs to something
 * else and is kept. If a run cannot be removed, the sweep throws the first error at its end, and the next sweep tries again.
 */
function createFolderSweep({ store, data, clock }: Required<Pick<RetentionOptions, 'store' | 'data' | 'clock'>>) {
  let since: number | undefined;

  return async (signal: AbortSignal): Promise<number> => {
    const startedAt = clock();
    const failures: unknown[] = [];
    let removed = 0;
    const remove = async (id: string): Promise<void> => {
      try {
        if (await removeFiles(data, id)) removed += 1;
      } catch (error) {
        // A run that cannot be removed must not prevent the others from being removed.
        failures.push(error);
      }
    };
    for await (const ids of since === undefined ? listPurgedHere(store, data) : listPurgedSince(store, since)) {
      for (let at = 0; at < ids.length && !signal.aborted; at += CONCURRENCY) {
        await Promise.all(ids.slice(at, at + CONCURRENCY).map(remove));
      }
      if (signal.aborted) break;
    }
    if (failures.length > 0) throw failures[0];
    if (!signal.aborted) since = startedAt - OVERLAP_MS;
    return removed;
  };
}

/** Lists the purged runs among those that have files here, in batches. */
async function* listPurgedHere(store: RetentionOptions['store'], data: string): AsyncGenerator<readonly string[]> {
  for await (const ids of listRuns(data)) yield store.findRunsWithoutEvents(ids);
}

async function* listPurgedSince(store: RetentionOptions['store'], since: number): AsyncGenerator<readonly string[]> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await store.listPurgedRuns({ since, limit: NAMES_PER_QUERY, ...omitUndefined({ cursor }) });
    yield page.items;
    cursor = page.next_cursor;
  }
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
