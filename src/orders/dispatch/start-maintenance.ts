import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { silentLogger, type Logger, getErrorMessage } from '../../base/index.js';
import type { Archive } from '../../runs/archive/index.js';
import type { Lead } from '../lead/create-lead.js';
import { type Repo, getRepositoryFolder } from '../repos/repos.js';
import type { Store } from '../../store/index.js';
import { createPacking, type PackingSettings } from './packing/start-packing.js';
import { createArchiveJob, createRetention, type RetentionSettings } from './retention/start-retention.js';
import { repeatJob, type BackgroundJob } from './repeat-work.js';
import { runByOneProcess } from './run-by-one-process.js';
import type { Dirent } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { chooseFolder, listFirstNames } from '../../base/files/index.js';
import { lockFolder } from '../../runs/index.js';
import { ignoreBusyFolder } from './run-to-end.js';
import { hasOwnCommits } from '../git/mirror.js';

export interface MaintenanceOptions {
  readonly store: Store;
  /** The folder of run folders on this machine. */
  readonly data: string;
  readonly settings: RetentionSettings;
  /** When run folders are packed; a minute after the end by default. */
  readonly packing?: PackingSettings;
  /** Where packed runs are uploaded. */
  readonly archive?: Archive | undefined;
  /**
   * The repositories of the configuration; other mirrors are removed some time after their last use. Without this option, all
   * mirrors are kept.
   */
  readonly repos?: readonly Repo[];
  /** Delivers comments; only set in processes with a worker. */
  readonly lead?: Pick<Lead, 'deliver'> | undefined;
  /** Further work that one process at a time does for all. */
  readonly jobs?: readonly BackgroundJob[];
  readonly logger?: Logger;
}

/**
 * Starts the background work of a server and a worker: packing ended runs, deleting old data and unused mirrors, counting runs
 * for statistics, and other jobs.
 */
export function startMaintenance(options: MaintenanceOptions): { stop(): Promise<void> } {
  const { store, data, settings, packing = {}, archive, repos, lead, jobs = [] } = options;
  const { logger = silentLogger } = options;
  const retention = createRetention({ store, data, settings, logger });
  const packer =
    packing.isOn === false ? undefined : createPacking({ store, data, settings: packing, archive, logger });
  const unusedMs = settings.mirrorsMs;
  const mirrorJob = repos === undefined ? undefined : createMirrorJob({ data, repos, unusedMs, logger });
  const removesArchived = archive !== undefined && settings.runsMs !== undefined;
  const stopping = new AbortController();
  const { signal } = stopping;
  const ownJobs = [packer?.job, retention.folderJob, mirrorJob].flatMap((job) => job ?? []);
  const own = ownJobs.map(async (job) => repeatJob(job, { logger, signal }));
  const shared = runByOneProcess({
    store,
    logger,
    jobs: [
      { name: 'statistics', everyMs: EVERY_MS, work: async (aborted) => countEnded(store, aborted) },
      ...(retention.storeJob === undefined ? [] : [retention.storeJob]),
      ...(removesArchived ? [createArchiveJob({ store, archive, data })] : []),
      // Failed deliveries, also of workers that are gone. The worker that settled the order makes the first try.
      ...(lead === undefined
        ? []
        : [
            {
              name: 'deliveries',
              everyMs: EVERY_MS,
              work: async (aborted: AbortSignal) => lead.deliver({ signal: aborted }),
            },
          ]),
      ...jobs,
    ],
  });
  return {
    async stop() {
      stopping.abort();
      await Promise.all([...own, shared.stop()]);
      await packer?.finish();
    },
  };
}

const EVERY_MS = 5000;
/** Few enough to block neither the database nor the event loop for long. */
const ROWS_PER_STEP = 500;

/** Counts ended runs and inbox items in the slots that statistics read. */
async function countEnded(store: Store, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await store.countEndedRuns(ROWS_PER_STEP)) > 0) await yieldToEvents();
  while (!signal.aborted && (await store.countInboxItems(ROWS_PER_STEP)) > 0) await yieldToEvents();
}

/** Options for removing mirrors. */
interface MirrorOptions extends Required<Pick<MaintenanceOptions, 'data' | 'repos'>> {
  /** How long a mirror is kept after its last use; 30 days by default. */
  readonly unusedMs?: number | undefined;
  readonly clock?: () => number;
  readonly logger?: Logger;
}

const MIRRORS_EVERY_MS = 60 * 60 * 1000;
const UNUSED_MS = 30 * 86_400_000;
/** The suffix of a mirror's name while it is being removed. */
const REMOVED = '.removed';
/** The maximum number of mirrors that one sweep examines; one exists for every URL that was ever configured. */
const MAX_MIRRORS = 1000;
/** A mirror, or a mirror whose removal was interrupted by a crash. */
const MIRROR = /^[0-9a-f]{32}\.git(?:\.removed)?$/u;

/**
 * Creates the job that removes the mirrors of repositories that the configuration no longer names, some time after their
 * last use. A mirror is kept while a worktree uses it, and while it might have the only copy of an order's commit.
 */
export function createMirrorJob(options: MirrorOptions): BackgroundJob {
  const { data, repos, unusedMs = UNUSED_MS, clock = Date.now, logger = silentLogger } = options;
  const configured = new Set(repos.map(({ url }) => getRepositoryFolder(data, { repo: url, repo_dir: url })));

  async function sweepOnce(signal: AbortSignal): Promise<number> {
    let removed = 0;
    const mirrors = join(data, 'mirrors');
    for (const name of await listFirstNames(mirrors, MAX_MIRRORS, chooseMirror)) {
      const folder = join(mirrors, name);
      if (signal.aborted) break;
      if (configured.has(folder)) continue;
      try {
        if (name.endsWith(REMOVED)) await rm(folder, { recursive: true, force: true });
        else if (clock() - (await findLastUse(folder)) >= unusedMs && (await removeUnused(folder))) removed += 1;
      } catch (error) {
        logger.warn('cannot remove an unused mirror, will retry', { folder, error: getErrorMessage(error) });
      }
    }
    if (removed > 0) logger.info('unused mirrors removed', { mirrors: removed });
    return removed;
  }

  /**
   * Removes a mirror under its lock, so no process fetches into it; a process waiting for the lock creates a new
   * mirror.
   */
  async function removeUnused(folder: string): Promise<boolean> {
    const lockPath = `${folder}.lock`;
    const lock = await lockFolder(join(data, 'locks'), lockPath).catch(ignoreBusyFolder);
    if (lock === undefined) return false;
    try {
      // Worktrees of orders in progress, or with changes left for a human.
      const worktrees = await readdir(join(folder, 'worktrees')).catch((): string[] => []);
      const isUsed = clock() - (await findLastUse(folder)) < unusedMs || worktrees.length > 0;
      if (isUsed || (await hasOwnCommits(folder))) return false;
      // Renamed first, because a partly removed mirror must not have the name of a complete one.
      const removedPath = `${folder}${REMOVED}`;
      await rm(removedPath, { recursive: true, force: true });
      await rename(folder, removedPath);
      await rm(removedPath, { recursive: true, force: true });
      await rm(lockPath, { recursive: true, force: true });
      return true;
    } finally {
      await lock.release();
    }
  }

  return { name: 'removing unused mirrors', everyMs: MIRRORS_EVERY_MS, work: sweepOnce };
}

function chooseMirror(entry: Dirent): string | undefined {
  return MIRROR.test(entry.name) ? chooseFolder(entry) : undefined;
}

/** Returns when a mirror was last used: every fetch and push touches the lock's folder. */
async function findLastUse(folder: string): Promise<number> {
  const stats = await stat(`${folder}.lock`).catch(async () => stat(folder));
  return stats.mtimeMs;
}
