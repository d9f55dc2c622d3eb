import { once } from 'node:events';
import { hostname } from 'node:os';
import pg from 'pg';
import { sampleClaim, sampleSettlement, sampleSubmission } from '../src/store/contract/fixtures/order-samples.js';
import { createRunResult, sampleSpec } from '../src/store/contract/fixtures/run-samples.js';
import { loadModule, readVersion } from './peers.js';
import { openStore } from './product.js';

/** The number of concurrent callers, and of connections per queue. */
export const WORKERS = 4;

/** A queue on PostgreSQL. Jobs are added, claimed and completed one by one, not in batches. */
export interface QueuePeer {
  readonly name: string;
  add(number: number): Promise<unknown>;
  /** Claims and completes this many jobs, with multiple concurrent workers. */
  drain(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens the minimal queue to compare with: a row that is inserted, marked with its worker and marked as done. */
export async function openBare(url: string): Promise<QueuePeer> {
  const pool = new pg.Pool({ connectionString: url, max: WORKERS });
  await pool.query(`
    CREATE TABLE bare_jobs (id bigserial PRIMARY KEY, payload jsonb NOT NULL, state text NOT NULL DEFAULT 'queued', worker text);
    CREATE INDEX bare_jobs_queued ON bare_jobs (id) WHERE state = 'queued'`);
  const claim = `
    UPDATE bare_jobs SET state = 'running', worker = $1 WHERE id = (
      SELECT id FROM bare_jobs WHERE state = 'queued' ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1) RETURNING id, payload`;
  return {
    name: 'bare statements',
    add: async (number) =>
      pool.query({ name: 'add', text: 'INSERT INTO bare_jobs (payload) VALUES ($1)', values: [{ number }] }),
    drain: async (count) =>
      drainBy(count, async (worker) => {
        const { rows } = await pool.query<{ id: string }>({ name: 'claim', text: claim, values: [worker] });
        if (rows[0] === undefined) return false;
        await pool.query({
          name: 'done',
          text: `UPDATE bare_jobs SET state = 'done' WHERE id = $1`,
          values: [rows[0].id],
        });
        return true;
      }),
    close: async () => pool.end(),
  };
}

/** Opens Sluice: a run is queued, claimed and ended, with its digest and statistics; each run has its own folder. */
export async function openSluice(url: string): Promise<QueuePeer> {
  const store = await openStore(url, { pool: WORKERS });
  const result = createRunResult();
  let round = 0;
  return {
    name: 'Sluice',
    async add(number) {
      const id = `run-${(round += 1)}-${number}`;
      await store.createRun({ id, spec: sampleSpec({ workdir: `/srv/${id}` }), state: 'queued', now: Date.now() });
    },
    drain: async (count) =>
      drainBy(count, async (worker) => {
        const identity = { worker_id: worker, host: hostname(), pid: process.pid, pid_started: null };
        const claimed = await store.claimRun({ worker: identity, leaseMs: 30_000, now: Date.now() });
        if (claimed === undefined) return false;
        await store.endRun({ id: claimed.record.id, workerId: worker, result, now: Date.now() });
        return true;
      }),
    close: async () => store.close(),
  };
}

/** Opens Sluice with orders: each is submitted for a new issue, claimed, and settled with its comment. */
export async function openSluiceOrders(url: string): Promise<QueuePeer> {
  const store = await openStore(url, { pool: WORKERS });
  let submitted = 0;
  return {
    name: 'Sluice, orders',
    async add() {
      const number = (submitted += 1);
      await store.submitOrder(sampleSubmission({ issue_ref: `owner/repo#${number}`, repo_dir: `/srv/${number}` }));
    },
    drain: async (count) =>
      drainBy(count, async (worker) => {
        const claimed = await store.claimRun({ ...sampleClaim(worker), now: Date.now() });
        if (claimed?.order === undefined || claimed.order === null) return false;
        await store.settleOrder(sampleSettlement(claimed.order));
        return true;
      }),
    close: async () => store.close(),
  };
}

/** The part of pg-boss that is used. */
interface Boss {
  on(event: 'error', listener: (error: Error) => void): void;
  start(): Promise<unknown>;
  createQueue(name: string): Promise<void>;
  send(name: string, data: object): Promise<unknown>;
  fetch(name: string): Promise<readonly { readonly id: string }[]>;
  complete(name: string, id: string): Promise<unknown>;
  stop(options: { readonly graceful: boolean }): Promise<void>;
}

/** Opens pg-boss without its own maintenance, which would run during the measurement. */
export async function openPgBoss(url: string): Promise<QueuePeer> {
  const PgBoss = (await loadModule('pg-boss'))['default'] as new (options: object) => Boss;
  const boss = new PgBoss({ connectionString: url, max: WORKERS, supervise: false, schedule: false });
  // Otherwise its unsupported operations would terminate the process.
  boss.on('error', (error) => console.error(error.message));
  await boss.start();
  await boss.createQueue('jobs');
  return {
    name: `pg-boss ${readVersion('pg-boss')}`,
    add: async (number) => boss.send('jobs', { number }),
    drain: async (count) =>
      drainBy(count, async () => {
        const [job] = await boss.fetch('jobs');
        if (job === undefined) return false;
        await boss.complete('jobs', job.id);
        return true;
      }),
    close: async () => boss.stop({ graceful: false }),
  };
}

/** The part of graphile-worker that is used. */
interface GraphileWorker {
  readonly makeWorkerUtils: (options: object) => Promise<{
    migrate(): Promise<void>;
    addJob(task: string, payload: object): Promise<unknown>;
    release(): Promise<unknown>;
  }>;
  readonly run: (options: object) => Promise<{ stop(): Promise<void> }>;
  readonly Logger: new (createLog: () => () => void) => object;
}

/** Opens graphile-worker, whose own workers claim jobs and delete them when they are done. */
export async function openGraphileWorker(url: string): Promise<QueuePeer> {
  const { makeWorkerUtils, run, Logger } = (await loadModule('graphile-worker')) as unknown as GraphileWorker;
  const pgPool = new pg.Pool({ connectionString: url, max: WORKERS + 1 });
  const logger = new Logger(() => () => undefined);
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  return {
    name: `graphile-worker ${readVersion('graphile-worker')}`,
    add: async (number) => utils.addJob('job', { number }),
    async drain(count) {
      let left = count;
      const end = new AbortController();
      const finished = once(end.signal, 'abort');
      const taskList = {
        job: async () => {
          left -= 1;
          if (left === 0) end.abort();
        },
      };
      const runner = await run({ pgPool, logger, concurrency: WORKERS, noHandleSignals: true, taskList });
      await finished;
      await runner.stop();
    },
    async close() {
      await utils.release();
      await pgPool.end();
    },
  };
}

/** Lets multiple workers execute jobs one after another until this many are done. */
async function drainBy(count: number, executeOne: (worker: string) => Promise<boolean>): Promise<void> {
  let done = 0;
  await Promise.all(
    Array.from({ length: WORKERS }, async (_, index) => {
      while (done < count && (await executeOne(`worker-${index}`))) done += 1;
    }),
  );
  if (done < count) throw new Error(`The bench has completed only ${done} of ${count} jobs.`);
}
