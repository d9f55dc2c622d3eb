import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { silentLogger } from '../../base/index.js';
import type { Archive } from '../../runs/archive/index.js';
import type { Logger } from '../../base/index.js';
import type { Lead } from '../lead/create-lead.js';
import type { Repo } from '../repos/repos.js';
import type { Statistics, Store } from '../../store/index.js';
import { startPacking } from './packing/start-packing.js';
import type { PackingSettings } from './packing/start-packing.js';
import { startMirrorSweep } from './retention/sweep-mirrors.js';
import { createArchiveJob, startRetention } from './retention/start-retention.js';
import type { RetentionSettings } from './retention/start-retention.js';
import { runByOneProcess } from './run-by-one-process.js';
import type { BackgroundJob } from './run-by-one-process.js';

/** Options for maintenance. */
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
 *
 * @example
 * const maintenance = startMaintenance({ store, data, settings: { runsMs: 30 * 86_400_000 } })
 * await maintenance.stop()
 */
export function startMaintenance(options: MaintenanceOptions): { stop(): Promise<void> } {
  const { store, data, settings, packing = {}, archive, repos, lead, jobs = [] } = options;
  const { logger = silentLogger } = options;
  const retention = startRetention({ store, data, settings, logger });
  const packer = startPacking({ store, data, settings: packing, archive, logger });
  const unusedMs = settings.mirrorsMs;
  const mirrors = repos === undefined ? undefined : startMirrorSweep({ data, repos, unusedMs, logger });
  const removesArchived = archive !== undefined && settings.runsMs !== undefined;
  const shared = runByOneProcess({
    store,
    logger,
    jobs: [
      createStatisticsJob(store),
      ...(retention.job === undefined ? [] : [retention.job]),
      ...(removesArchived ? [createArchiveJob({ store, archive, data })] : []),
      ...(lead === undefined ? [] : [createDeliveryJob(lead)]),
      ...jobs,
    ],
  });
  return {
    async stop() {
      await Promise.all([retention.stop(), packer.stop(), mirrors?.stop(), shared.stop()]);
    },
  };
}

const COUNT_EVERY_MS = 5000;
/** Few enough to block neither the database nor the event loop for long. */
const ROWS_PER_STEP = 500;

/** Counts ended runs and inbox items in the slots that statistics read. */
function createStatisticsJob(store: Pick<Statistics, 'countEndedRuns' | 'countInboxItems'>): BackgroundJob {
  return {
    name: 'statistics',
    everyMs: COUNT_EVERY_MS,
    async work(signal) {
      while (!signal.aborted && (await store.countEndedRuns(ROWS_PER_STEP)) > 0) await yieldToEvents();
      while (!signal.aborted && (await store.countInboxItems(ROWS_PER_STEP)) > 0) await yieldToEvents();
    },
  };
}

const DELIVER_EVERY_MS = 5000;

/** Retries failed deliveries, also those of workers that are gone. The worker that settled the order makes the first try. */
function createDeliveryJob(lead: Pick<Lead, 'deliver'>): BackgroundJob {
  return {
    name: 'deliveries',
    everyMs: DELIVER_EVERY_MS,
    work: async (signal) => lead.deliver({ signal }),
  };
}
