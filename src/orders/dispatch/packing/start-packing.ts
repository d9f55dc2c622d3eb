import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorMessage, setLatest, silentLogger, type Logger } from '../../../base/index.js';
import type { Archive } from '../../../runs/archive/index.js';
import { chooseFolder, listNames } from '../../../base/files/index.js';
import {
  PACKED_FOLDER,
  TEMPORARY_FOLDER,
  getIncomingPath,
  packRunFolder,
  removeRunFolder,
} from '../../../runs/run-folder/index.js';
import type { RunStore } from '../../../store/ports/index.js';
import type { Maintenance } from '../../../store/index.js';
import { createUploads, isExecutedHere, listArtifactFiles } from './upload-runs.js';

export interface PackingOptions {
  readonly store: Pick<Maintenance, 'findSettledRuns' | 'findRunsWithoutEvents'> & Pick<RunStore, 'findRun'>;
  /** The data folder; each host packs its own. */
  readonly data: string;
  readonly settings?: PackingSettings;
  /** Where packed runs are uploaded. With an archive, packed runs also contain the files that the run changed. */
  readonly archive?: Archive | undefined;
  readonly clock?: () => number;
  readonly logger?: Logger;
}

/** When run folders are packed. */
export interface PackingSettings {
  /** Whether run folders are packed; true by default. */
  readonly isOn?: boolean | undefined;
  /** How long after its end a run is packed; a minute by default, so a caller that waited for it finds its folder. */
  readonly afterMs?: number | undefined;
}

/** How often to look for folders of ended runs. */
const EVERY_MS = 15_000;
const AFTER_MS = 60_000;
/** The number of names in one query to the store. */
const NAMES_PER_QUERY = 500;
/** A sweep ends after this time, so stopping does not take longer; the rest is left for the next sweep. */
const SWEEP_MS = 10_000;
const UPLOAD_MS = 60_000;
/** A service manager waits about half a minute for a process to exit, and the worker has already used part of that. */
const LAST_COPY_MS = 10_000;
/** Leftovers of a killed process are removed once no process can be writing to them. */
const STALE_MS = 60 * 60 * 1000;
/** The maximum number of folders remembered as postponed; beyond that, the oldest are forgotten and retried sooner. */
const MAX_POSTPONED = 10_000;
const POSTPONED_MS = 60 * 60 * 1000;

/**
 * Creates the job that packs the folders of ended runs, one file each, in short sweeps. Only the folders of runs that have
 * ended and are settled in the store are touched. A folder that cannot be packed is retried an hour later. With an archive,
 * packed runs are uploaded there, and active runs are copied while they grow and, for a limited time, by `finish`.
 */
export function createPacking(options: PackingOptions) {
  const {
    store,
    data,
    archive,
    settings: { afterMs = AFTER_MS } = {},
    clock = Date.now,
    logger = silentLogger,
  } = options;
  const uploads = archive === undefined ? undefined : createUploads({ archive, store, data, clock, logger });
  const postponed = new Map<string, number>();

  async function sweepOnce(signal: AbortSignal): Promise<number> {
    const packed = await packSettled(signal);
    // Growing runs are copied at the next sweep, so a long queue must not delay it.
    const until = Date.now() + Math.min(UPLOAD_MS, archive?.copyEveryMs ?? UPLOAD_MS);
    const uploaded = await uploads?.sweep(() => signal.aborted || Date.now() > until);
    if (uploaded !== undefined && uploaded > 0) logger.info('runs uploaded to the archive', { runs: uploaded });
    return packed;
  }

  async function packSettled(signal: AbortSignal): Promise<number> {
    const until = Date.now() + SWEEP_MS;
    let packed = 0;
    await removeStale(join(data, PACKED_FOLDER, TEMPORARY_FOLDER));
    for await (const names of listNames(join(data, 'runs'), NAMES_PER_QUERY, chooseFolder)) {
      const waiting = names.filter((name) => (postponed.get(name) ?? 0) <= clock());
      if (waiting.length === 0) continue;
      for (const id of await store.findSettledRuns({ ids: waiting, endedBefore: clock() - afterMs })) {
        if (signal.aborted || Date.now() > until) return packed;
        if (await pack(id)) packed += 1;
      }
    }
    return packed;
  }

  /**
   * Whether a worker has not copied all of a run here, so another server might have more of it. What no other server
   * has uploaded within an hour is packed as it is.
   */
  async function isLeftToOthers(shared: Archive, id: string): Promise<boolean> {
    const incoming = getIncomingPath(data, id);
    const stats = await stat(incoming).catch(() => undefined);
    if (stats === undefined) return false;
    if (stats.mtimeMs > Date.now() - STALE_MS) return true;
    const isElsewhere = (await shared.openRun(id)) !== undefined;
    if (isElsewhere) await removeRunFolder(data, id);
    await rm(incoming, { force: true });
    return isElsewhere;
  }

  async function pack(id: string): Promise<boolean> {
    try {
      if (archive !== undefined && (await isLeftToOthers(archive, id))) return false;
      const record = uploads === undefined ? undefined : await store.findRun(id);
      const outcome = await packRunFolder(data, id, {
        // On another host, the same paths are other files.
        ...(record === undefined || !isExecutedHere(record) ? {} : { extraFiles: () => listArtifactFiles(record) }),
        ...(uploads === undefined ? {} : { beforeNaming: async () => uploads.add(id) }),
      });
      if (outcome !== 'too_large') return outcome === 'packed';
      logger.warn('run folder is too large to pack and stays a folder', { run_id: id });
      uploads?.keepParts(id);
    } catch (error) {
      logger.warn('cannot pack a run folder, will retry later', { run_id: id, error: getErrorMessage(error) });
    }
    setLatest(postponed, MAX_POSTPONED, id, clock() + POSTPONED_MS);
    return false;
  }

  const job = { name: 'packing', everyMs: Math.min(EVERY_MS, archive?.copyEveryMs ?? EVERY_MS), work: sweepOnce };
  return { job, finish: async (lastCopyMs = LAST_COPY_MS) => uploads?.finish(lastCopyMs) };
}

async function removeStale(folder: string): Promise<void> {
  for await (const names of listNames(folder, NAMES_PER_QUERY, ({ name }) => name)) {
    for (const name of names) {
      const path = join(folder, name);
      const stats = await stat(path).catch(() => undefined);
      if (stats !== undefined && stats.mtimeMs < Date.now() - STALE_MS) await rm(path, { force: true });
    }
  }
}
