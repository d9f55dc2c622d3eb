import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waitForOrder } from '../../src/dispatch/index.js';
import { createLead, type Lead } from '../../src/orders/index.js';
import { openStore, type Store } from '../../src/store/index.js';
import { report } from '../report.js';
import { describeStages, type WatchedOrder } from './describe-stages.js';
import { eventually } from './eventually.js';
import { readClock } from './fixtures/record-stages.js';
import { createPostgresServer, type PostgresServer } from './postgres-server.js';
import { FOLDER_PREFIX } from './sweep-leftovers.js';
import { findViolations, isAnythingLeft, readOrders } from './work-done.js';
import { makeWorkerSite, type StartedWorker, type WorkerSite } from './worker-site.js';

/** More in `npm run torture -- --only fleet`: 200 workers in 4 processes, 2,000 orders. */
const WORKERS = Number(process.env['FLEET_WORKERS'] ?? 6);
const PROCESSES = Number(process.env['FLEET_PROCESSES'] ?? 2);
const ORDERS = Number(process.env['FLEET_ORDERS'] ?? 40);
const KILLS = Number(process.env['FLEET_KILLS'] ?? 1);
/** How long the idle fleet is measured; too short to judge it by default. */
const IDLE_S = Number(process.env['FLEET_IDLE_S'] ?? 2);
const LEASE_MS = Number(process.env['FLEET_LEASE_MS'] ?? 3000);
/** Polls have slowed down by then. */
const WARM_UP_S = IDLE_S < 30 ? 0 : 60;
const SINGLE_ORDERS = Math.min(50, Math.ceil(ORDERS / 4));
const REPOSITORIES = 64;
const SUBMITTERS = 8;

async function startServer(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  const server = await createPostgresServer(folder, ['-c', `max_connections=${WORKERS * 3 + 60}`]);
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  await server.start();
  return server;
}

interface Load {
  readonly connections: number;
  readonly transactions: number;
  /** Seconds of processor time that the server has used, and the workers. */
  readonly serverCpu: number;
  readonly workerCpu: number;
  readonly at: number;
}

/** What the fleet costs so far, asked on a connection of its own. */
async function readLoad(url: string, processes: readonly StartedWorker[]): Promise<Load> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ connections: string; transactions: string; pid: number }>(
    `SELECT (SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sluice') AS connections,
       (SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()) AS transactions,
       pg_backend_pid() AS pid`,
  );
  const own = rows[0];
  const postmaster = Number(/^PPid:\s+(\d+)/m.exec(await readFile(`/proc/${own?.pid ?? 0}/status`, 'utf8'))?.[1]);
  await client.end();
  const workers = await Promise.all(processes.map(async ({ child }) => readCpu(child.pid ?? 0)));
  return {
    connections: Number(own?.connections),
    transactions: Number(own?.transactions),
    serverCpu: await readFamilyCpu(postmaster),
    workerCpu: workers.reduce((total, each) => total + each, 0),
    at: performance.now(),
  };
}

/** Seconds of processor time of a process, with the children that have ended. */
async function readCpu(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return fields.reduce((total, ticks) => total + Number(ticks), 0) / 100;
}

async function readFamilyCpu(pid: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(
    pids.map(async (each) => {
      const status = await readFile(`/proc/${each}/status`, 'utf8').catch(() => '');
      return Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]) === pid;
    }),
  );
  const family = [pid, ...pids.filter((_, index) => parents[index])];
  return (await Promise.all(family.map(readCpu))).reduce((total, each) => total + each, 0);
}

function describeLoad(before: Load, after: Load): string {
  const seconds = (after.at - before.at) / 1000;
  const perSecond = (after.transactions - before.transactions) / seconds;
  const cores = (key: 'serverCpu' | 'workerCpu') => ((after[key] - before[key]) / seconds).toFixed(2);
  return `${after.connections} connections, ${perSecond.toFixed(1)} transactions a second, ${cores('serverCpu')} cores of PostgreSQL, ${cores('workerCpu')} of the workers`;
}

async function submitOne(lead: Lead, { repositories }: WorkerSite, number: number) {
  const { order } = await lead.submit({
    issue_ref: `local#${number}`,
    role: 'counter',
    repo_dir: repositories[number % repositories.length],
    worker: 'scripted',
    instructions: 'Count.',
    request_id: `fleet ${number}`,
  });
  return order;
}

/** Submits orders to an idle fleet, one after the other, and notes when each was settled. */
async function watchSingleOrders(store: Store, lead: Lead, site: WorkerSite): Promise<WatchedOrder[]> {
  const orders: WatchedOrder[] = [];
  for (let number = 1; number <= SINGLE_ORDERS; number += 1) {
    const from = readClock();
    const { issue_ref: issueRef, run_id: runId } = await submitOne(lead, site, number);
    const submitted = readClock();
    await waitForOrder(store, { issueRef, runId });
    orders.push({ issueRef, from, submitted, noticed: readClock() });
  }
  return orders;
}

/** Repeats a submission that met a server which was away: it has a request id. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch {
      await sleep(200);
    }
  }
}

describe('a fleet of workers', () => {
  it(
    'costs little while it is idle, settles orders soon, and does each once over kills and a restart of the database',
    { timeout: 300_000 + WARM_UP_S * 2000 + IDLE_S * 2000 + ORDERS * 1000 },
    async () => {
      const server = await startServer();
      const { url } = server;
      const site = await makeWorkerSite(REPOSITORIES, {
        url,
        workersPerProcess: Math.ceil(WORKERS / PROCESSES),
        leaseMs: LEASE_MS,
        reconcileMs: LEASE_MS,
      });
      const store = await openStore(url, { pool: 10 });
      onTestFinished(async () => store.close());
      const wrappers = { scripted: { type: 'script', command: ['/bin/sh'], inject: 'env' } } as const;
      const lead = createLead({ store, data: site.data, wrappers });
      const processes = Array.from({ length: PROCESSES }, () => site.startWorker());
      onTestFinished(() => {
        for (const { child } of processes) child.kill('SIGKILL');
      });
      await Promise.all(processes.map(async ({ ready }) => ready));

      await sleep(WARM_UP_S * 1000);
      const idle = await readLoad(url, processes);
      await sleep(IDLE_S * 1000);
      const stillIdle = await readLoad(url, processes);
      report(`${WORKERS} idle workers: ${describeLoad(idle, stillIdle)}`);
      // Those of the workers, and the store of this test; in the short form connections of the start are still open.
      expect(stillIdle.connections).toBeLessThanOrEqual((WARM_UP_S > 0 ? 2 : 3) * WORKERS + 11);
      const perWorker = (stillIdle.transactions - idle.transactions) / ((stillIdle.at - idle.at) / 1000) / WORKERS;
      // In the short form its polls have not slowed down yet.
      expect(perWorker).toBeLessThanOrEqual(WARM_UP_S > 0 ? 0.2 : 50);

      const watched = await watchSingleOrders(store, lead, site);
      const times = watched.map(({ from, noticed }) => noticed - from).toSorted((one, other) => one - other);
      const at = (share: number) => Math.round(times[Math.floor(times.length * share)] ?? Number.NaN);
      let stages: readonly string[] = [];
      await eventually(async () => {
        stages = await site.readStages();
        expect(stages.filter((line) => line.includes(' delivered '))).toHaveLength(SINGLE_ORDERS);
      });
      report(
        `an order in the idle fleet is settled after ${at(0.5)} ms (p50), ${at(0.95)} ms (p95), with a load of ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores`,
      );
      report(`its stages in milliseconds (p50): ${describeStages(watched, stages)}`);

      const busy = await readLoad(url, processes);
      const start = performance.now();
      let next = SINGLE_ORDERS;
      const submitters = Array.from({ length: SUBMITTERS }, async () => {
        while (next < ORDERS) {
          const number = (next += 1);
          await insist(async () => submitOne(lead, site, number));
        }
      });
      let kills = 0;
      let loaded: Load | undefined;
      const isLeft = async () => insist(async () => isAnythingLeft(store));
      const countSettled = async () => (await readOrders(store)).filter(({ state }) => state === 'settled').length;
      let isSubmitted = false;
      const submit = async (): Promise<void> => {
        await Promise.all(submitters);
        isSubmitted = true;
      };
      const submitted = submit();
      for (;;) {
        if (isSubmitted && !(await isLeft())) break;
        await sleep(500);
        const settled = await insist(countSettled);
        if (loaded === undefined && settled >= ORDERS / 2) {
          // A crash resets what the server counts.
          loaded = await readLoad(url, processes);
          await server.kill();
          await server.start();
        }
        const oldest = processes.findIndex(({ isReady }) => isReady);
        if (
          loaded !== undefined &&
          kills < KILLS &&
          oldest !== -1 &&
          settled >= ORDERS * (0.55 + (0.4 * kills) / KILLS)
        ) {
          const [killed] = processes.splice(oldest, 1, site.startWorker());
          killed?.child.kill('SIGKILL');
          kills += 1;
        }
      }
      await submitted;
      const seconds = (performance.now() - start) / 1000;
      const orders = await readOrders(store);
      expect(orders).toHaveLength(ORDERS);
      expect(await findViolations(site, store, orders)).toEqual([]);
      expect(kills).toBe(KILLS);
      const asked = orders.filter(({ decision }) => decision?.action === 'needs-human').length;
      report(
        `${ORDERS - SINGLE_ORDERS} orders in ${Math.round(seconds)} s, ${((ORDERS - SINGLE_ORDERS) / seconds).toFixed(1)} a second, ${kills} processes killed, the database restarted once: 0 lost, 0 twice, ${asked} given to a person because their exit is unknown; ${loaded === undefined ? '' : describeLoad(busy, loaded)}`,
      );
      await lead.close();
      const ends = processes.map(async ({ child, ready }) => {
        await ready;
        child.kill('SIGTERM');
        return once(child, 'exit');
      });
      expect(await Promise.all(ends)).toEqual(processes.map(() => [0, null]));
    },
  );
});
