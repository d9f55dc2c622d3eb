import { createWakers } from '../wakers.js';
import type { Database } from './database.js';
import type { Queryable } from './driver.js';
import { loadPackage } from './load-package.js';
import { alone } from './migrate.js';
import type { Notifications } from './notifications.js';

/** Wake-ups for workers on all machines. It never decides anything: whoever wakes claims, and the claim decides. */
export interface WorkQueue {
  /**
   * Puts a wake-up into the queue, in the transaction that makes the work: no work, no wake-up. The statement that makes
   * the work has {@link NOTIFY_QUEUE} in it.
   */
  announce(transaction: Queryable, work: Work): Promise<void>;
  watch(wake: () => void): () => void;
  close(): void;
}

/** What there is to do; for people who look into the queue. */
export type Work =
  | { readonly kind: 'order'; readonly issue_ref: string; readonly run_id: string }
  | { readonly kind: 'run'; readonly id: string };

/** The part of pg-boss that is used: no workers and no timers of its own, whose failures nobody could catch. */
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

/** Wakes those who take work, as part of a statement: it takes effect when that is committed. */
export const NOTIFY_QUEUE = `pg_notify('sluice_queue', '')`;

const SCHEMA = 'sluice_queue';
const QUEUE = 'sluice-work';

/** Half a second is how long a wake-up may take where the announcement itself was lost. */
const POLL_MS = 500;

/** Wake-ups of workers that died with them in hand, and ones nobody ever fetched, are cleared away this often. */
const MAINTENANCE_MS = 5 * 60_000;

const BATCH = 100;

export async function openQueue(database: Database, notifications: Notifications): Promise<WorkQueue> {
  const { default: PgBoss } = await loadPackage('pg-boss', () => import('pg-boss'));
  const boss: Boss = new PgBoss({ db: asExecutor(database), schema: SCHEMA, supervise: false, schedule: false });
  boss.on('error', () => undefined);
  // It makes its tables on connections of its own, and two processes that begin at once would fail each other.
  await alone(database, async () => {
    await boss.start();
    await boss.createQueue(QUEUE);
  });
  const wakers = createWakers();
  let stop: (() => void) | undefined;

  function wakeAll(): void {
    wakers.wake(QUEUE);
  }

  /** Takes the wake-ups out of the queue; several machines share them, and any one of them is enough. */
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
      // A server that is away is found again by the next poll.
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
