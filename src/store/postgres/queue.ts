import { createWakers } from '../wakers.js';
import type { Database } from './database.js';
import type { Queryable } from './driver.js';
import { loadPackage } from './load-package.js';
import { alone } from './migrate.js';
import type { Notifications } from './notifications.js';

/** Wake-ups for workers on all machines. A wake-up assigns nothing: the worker claims, and the claim decides. */
export interface WorkQueue {
  /**
   * Puts a wake-up into the queue, in the transaction that makes the work: no work, no wake-up. The statement that makes
   * the work has {@link NOTIFY_QUEUE} in it.
   */
  announce(transaction: Queryable, work: Work): Promise<void>;
  watch(wake: () => void): () => void;
  close(): void;
}

/** What kind of work there is; informative only. */
export type Work =
  | { readonly kind: 'order'; readonly issue_ref: string; readonly run_id: string }
  | { readonly kind: 'run'; readonly id: string };

/** The part of pg-boss that is used: neither its workers nor its timers, because their failures cannot be caught. */
interface Boss {
  start(): Promise<unknown>;
  createQueue(name: string): Promise<void>;
  send(name: string, data: object, options: { db: Executor }): Promise<string | null>;
  fetch(name: string, options: { batchSize: number }): Promise<{ readonly id: string }[]>;
  deleteJob(name: string, ids: string[]): Promise<void>;
  maintain(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

interface Executor {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** Wakes workers, as part of a statement: it takes effect when the statement is committed. */
export const NOTIFY_QUEUE = `pg_notify('sluice_queue', '')`;

const SCHEMA = 'sluice_queue';
const QUEUE = 'sluice-work';

/** How late a wake-up may be when its notification was lost. */
const POLL_MS = 500;

/** How often wake-ups of crashed workers, and ones never fetched, are deleted. */
const MAINTENANCE_MS = 5 * 60_000;

const BATCH = 100;

export async function openQueue(database: Database, notifications: Notifications): Promise<WorkQueue> {
  const { default: PgBoss } = await loadPackage('pg-boss', () => import('pg-boss'));
  const boss: Boss = new PgBoss({ db: asExecutor(database), schema: SCHEMA, supervise: false, schedule: false });
  boss.on('error', () => undefined);
  // pg-boss creates its tables on separate connections; two processes that do so at once would make each other fail.
  await alone(database, async () => {
    await boss.start();
    await boss.createQueue(QUEUE);
  });
  const wakers = createWakers();
  let stop: (() => void) | undefined;

  function wakeAll(): void {
    wakers.wake(QUEUE);
  }

  /** Removes the wake-ups from the queue. Machines share them; one is enough. */
  async function drain(): Promise<void> {
    for (;;) {
      const jobs = await boss.fetch(QUEUE, { batchSize: BATCH });
      if (jobs.length === 0) return;
      wakeAll();
      await boss.deleteJob(
        QUEUE,
        jobs.map(({ id }) => id),
      );
    }
  }

  function maintain(): void {
    void boss.maintain().catch(() => undefined);
  }

  function begin(): () => void {
    let isDraining = false;
    const poll = setInterval(() => {
      if (isDraining) return;
      isDraining = true;
      // If the server is unreachable, the next poll tries again.
      void drain()
        .catch(() => undefined)
        .finally(() => (isDraining = false));
    }, POLL_MS).unref();
    const maintenance = setInterval(maintain, MAINTENANCE_MS).unref();
    maintain();
    const stopListening = notifications.listen('sluice_queue', '', wakeAll);
    return () => {
      clearInterval(poll);
      clearInterval(maintenance);
      stopListening();
    };
  }

  function rest(): void {
    stop?.();
    stop = undefined;
  }

  return {
    async announce(transaction, work) {
      await boss.send(QUEUE, work, { db: asExecutor(transaction) });
    },
    watch(wake) {
      const stopWatching = wakers.watch(QUEUE, wake);
      stop ??= begin();
      return () => {
        stopWatching();
        if (wakers.keys().length === 0) rest();
      };
    },
    close() {
      wakers.clear();
      rest();
    },
  };
}

function asExecutor(queryable: Queryable): Executor {
  return { executeSql: (text, values) => queryable.query(text, values) };
}
