import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waitForOrder } from '../../src/orders/dispatch/index.js';
import { createLead, type Lead } from '../../src/orders/index.js';
import { openStore, type Store } from '../../src/store/index.js';
import { report } from '../report.js';
import { describeStages, type OrderTimes } from './describe-stages.js';
import { eventually } from './eventually.js';
import { readClock } from './fixtures/record-stages.js';
import { queryServer, computeIdleFraction, describeLoad, readLoad, type Load } from './measure-load.js';
import { createPostgresServer, type PostgresServer } from './postgres-server.js';
import { FOLDER_PREFIX } from './sweep-leftovers.js';
import { findViolations, hasOpenWork, readOrders } from './check-orders.js';
import { makeWorkerSite, type Route, type WorkerSite } from './worker-site.js';

/** Larger in `npm run torture -- --only fleet`: 200 workers in 4 processes, 2,000 orders. */
const WORKERS = Number(process.env['FLEET_WORKERS'] ?? 6);
const PROCESSES = Number(process.env['FLEET_PROCESSES'] ?? 2);
const ORDERS = Number(process.env['FLEET_ORDERS'] ?? 40);
const KILLS = Number(process.env['FLEET_KILLS'] ?? 1);
/** How long the idle fleet is measured; the default is too short for reliable numbers. */
const IDLE_S = Number(process.env['FLEET_IDLE_S'] ?? 2);
const LEASE_MS = Number(process.env['FLEET_LEASE_MS'] ?? 3000);
/** After this time, polling has slowed down. */
const WARM_UP_S = IDLE_S < 30 ? 0 : 60;
/**
 * The number of orders that arrive at a steady rate, whether or not earlier orders are settled, and the rate per
 * second: first in separate folders, then in worktrees of a git repository, where Sluice commits and examines the
 * agent's changes.
 */
const ARRIVALS = Math.min(60, Math.ceil(ORDERS / 5));
const RATE = Number(process.env['FLEET_RATE'] ?? 4);
/** The maximum median, and the fraction of the host that must be idle for that limit to apply. */
const MAX_MEDIAN_MS = 300;
const MIN_IDLE_FRACTION = 0.4;
/** The workers represent separate hosts, but their agents share this one. */
const MAX_CONCURRENT_ORDERS = Number(process.env['FLEET_AT_ONCE'] ?? 8 * availableParallelism());
const REPOSITORIES = 64;
const SUBMITTERS = 8;
/** The time limit for the orders submitted together: fewer than one per second is a failure. */
const TIMEOUT_S = 240 + ORDERS;

async function startServer(route: Route): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  const maxConnections = route === 'https' ? 100 : WORKERS * 3 + 60;
  const server = await createPostgresServer(folder, ['-c', `max_connections=${maxConnections}`]);
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  await server.start();
  return server;
}

type Isolation = 'repository' | 'worktree';

async function submitOne(
  lead: Lead,
  { repositories, shared }: WorkerSite,
  number: number,
  isolation: Isolation = 'repository',
) {
  return lead.submit({
    issue_ref: `local#${number}`,
    role: 'counter',
    repo_dir: isolation === 'worktree' ? shared : repositories[number % repositories.length],
    isolation,
    worker: 'scripted',
    instructions: 'Count.',
    request_id: `fleet ${number}`,
  });
}

/** Submits orders to an idle fleet at a steady rate, and records when each was settled. */
async function measureArrivals(
  store: Store,
  lead: Lead,
  site: WorkerSite,
  { first, isolation }: { readonly first: number; readonly isolation: Isolation },
): Promise<readonly OrderTimes[]> {
  return Promise.all(
    Array.from({ length: ARRIVALS }, async (_, index) => {
      await sleep((index * 1000) / RATE);
      const from = readClock();
      const { order, run } = await submitOne(lead, site, first + index, isolation);
      const submitted = readClock();
      const { issue_ref: issueRef, run_id: runId } = order;
      await waitForOrder(store, { issueRef, runId });
      return { issueRef, run, from, submitted, noticed: readClock() };
    }),
  );
}

/** The maximum downtime of a killed server. */
const MAX_DOWNTIME_MS = 120_000;

/** Repeats a call while the server is down. Submissions have a request id, so repeating them is safe. */
async function retryWhileDown<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + MAX_DOWNTIME_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > until) throw error;
      await sleep(200);
    }
  }
}

describe.each<Route>(['database', 'https'])('a fleet of workers (%s)', (route) => {
  it(
    'uses few connections and transactions while idle, settles orders quickly, and executes none twice despite kills and a database restart',
    { timeout: 300_000 + WARM_UP_S * 2000 + IDLE_S * 2000 + TIMEOUT_S * 1000 },
    async () => {
      const server = await startServer(route);
      const { url } = server;
      const site = await makeWorkerSite(REPOSITORIES, {
        url,
        route,
        workersPerProcess: Math.ceil(WORKERS / PROCESSES),
        leaseMs: LEASE_MS,
        reconcileMs: LEASE_MS,
        atOnce: MAX_CONCURRENT_ORDERS,
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
      const measure = async () =>
        readLoad(url, site.server === undefined ? processes : [...processes, site.server.process]);

      await sleep(WARM_UP_S * 1000);
      const idleStart = await measure();
      await sleep(IDLE_S * 1000);
      const idleEnd = await measure();
      report(`${WORKERS} idle workers (${route}): ${describeLoad(idleStart, idleEnd)}`);
      // Connections of the workers or of their server, and of this test's store. In a short test, those from startup are
      // still open.
      const maxConnections = route === 'https' ? 11 : (WARM_UP_S > 0 ? 2 : 3) * WORKERS;
      expect(idleEnd.connections).toBeLessThanOrEqual(maxConnections + 11);
      const perWorker =
        (idleEnd.transactions - idleStart.transactions) / ((idleEnd.at - idleStart.at) / 1000) / WORKERS;
      // In a short test, polling has not slowed down yet.
      expect(perWorker).toBeLessThanOrEqual(WARM_UP_S > 0 ? 0.2 : 50);

      for (const [index, isolation] of (['repository', 'worktree'] as const).entries()) {
        const before = await measure();
        const orderTimes = await measureArrivals(store, lead, site, { first: 1 + index * ARRIVALS, isolation });
        const after = await measure();
        const times = orderTimes.map(({ from, noticed }) => noticed - from).toSorted((a, b) => a - b);
        const percentile = (fraction: number) => Math.round(times[Math.floor(times.length * fraction)] ?? Number.NaN);
        let stages: readonly string[] = [];
        await eventually(async () => {
          stages = await site.readStages();
          expect(stages.filter((line) => line.includes(' delivered '))).toHaveLength((index + 1) * ARRIVALS);
        });
        report(
          `${ARRIVALS} orders (${route}), isolation ${isolation}, ${RATE} a second: settled after ${percentile(0.5)} ms (p50), ${percentile(0.95)} ms (p95), with a load of ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores; ${describeLoad(before, after)}`,
        );
        report(`their stages in milliseconds (p50): ${await describeStages(orderTimes, stages, site.data)}`);
        // If other processes use the host, the time does not measure Sluice.
        const isQuiet = computeIdleFraction(before, after) >= MIN_IDLE_FRACTION;
        expect(percentile(0.5)).toBeLessThanOrEqual(isQuiet && WARM_UP_S > 0 ? MAX_MEDIAN_MS : Infinity);
      }

      const loadAtStart = await measure();
      const start = performance.now();
      let next = 2 * ARRIVALS;
      const submitters = Array.from({ length: SUBMITTERS }, async () => {
        while (next < ORDERS) {
          const number = (next += 1);
          await retryWhileDown(async () => submitOne(lead, site, number));
        }
      });
      let kills = 0;
      let loadBeforeCrash: Load | undefined;
      const countSettled = async (): Promise<number> => {
        const query = 'SELECT count(*) AS settled FROM sluice.orders WHERE decision IS NOT NULL';
        return Number((await queryServer<{ readonly settled: string }>(url, query)).settled);
      };
      let isSubmitted = false;
      const submit = async (): Promise<void> => {
        await Promise.all(submitters);
        isSubmitted = true;
      };
      const submitted = submit();
      for (;;) {
        await sleep(500);
        const settled = await retryWhileDown(countSettled);
        const isSettled = isSubmitted && settled === ORDERS && kills === KILLS;
        if (isSettled && !(await retryWhileDown(async () => hasOpenWork(store)))) break;
        const seconds = (performance.now() - start) / 1000;
        if (seconds > TIMEOUT_S)
          throw new Error(`${settled} of ${ORDERS} orders settled after ${Math.round(seconds)} s`);
        if (loadBeforeCrash === undefined && settled >= ORDERS / 2) {
          // Measured before the crash, which resets the server's counters.
          loadBeforeCrash = await measure();
          await server.kill();
          await server.start();
        }
        const oldestIndex = processes.findIndex(({ isReady }) => isReady);
        if (
          loadBeforeCrash !== undefined &&
          kills < KILLS &&
          oldestIndex !== -1 &&
          settled >= ORDERS * (0.55 + (0.4 * kills) / KILLS)
        ) {
          const [killed] = processes.splice(oldestIndex, 1);
          processes.push(site.startWorker());
          killed?.child.kill('SIGKILL');
          kills += 1;
        }
      }
      await submitted;
      const seconds = (performance.now() - start) / 1000;
      const orders = await readOrders(store);
      const needsHuman = orders.filter(({ decision }) => decision?.action === 'needs-human').length;
      report(
        `${ORDERS - 2 * ARRIVALS} orders submitted together (${route}), ${MAX_CONCURRENT_ORDERS} executed at a time: ${Math.round(seconds)} s, ${((ORDERS - 2 * ARRIVALS) / seconds).toFixed(1)} a second, ${kills} processes killed, the database restarted once, ${needsHuman} passed to a human; until the restart ${loadBeforeCrash === undefined ? '' : describeLoad(loadAtStart, loadBeforeCrash)}`,
      );
      expect(orders).toHaveLength(ORDERS);
      expect(await findViolations(site, store, orders)).toEqual([]);
      expect(kills).toBe(KILLS);
      await lead.close();
      const exits = processes.map(async ({ child, ready }) => {
        await ready;
        child.kill('SIGTERM');
        return once(child, 'exit');
      });
      expect(await Promise.all(exits)).toEqual(processes.map(() => [0, null]));
    },
  );
});
