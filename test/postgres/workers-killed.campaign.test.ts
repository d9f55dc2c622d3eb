import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLead } from '../../src/orders/index.js';
import { openStore, type Store } from '../../src/store/index.js';
import { report } from '../report.js';
import { findViolations, hasOpenWork, readOrders } from './check-orders.js';
import { makeWorkerSite, type Route, type SiteServer, type WorkerSite } from './worker-site.js';

/** Larger in `npm run torture`: four workers, two thousand orders, one kill per second until everything is done. */
const ORDERS = Number(process.env['ORDERS'] ?? 40);
const WORKERS = Number(process.env['WORKERS'] ?? 2);
const KILLS = Number(process.env['WORKER_KILLS'] ?? 2);
/** The time between two kills, so each kill hits busy workers. */
const KILL_INTERVAL_MS = 1000;

async function submitOrders({ data, repositories }: WorkerSite, store: Store): Promise<void> {
  const wrappers = { scripted: { type: 'script', command: ['/bin/sh'], inject: 'env' } } as const;
  const lead = createLead({ store, data, wrappers });
  for (let number = 1; number <= ORDERS; number++) {
    await lead.submit({
      issue_ref: `local#${number}`,
      role: 'counter',
      repo_dir: repositories[number % repositories.length],
      worker: 'scripted',
      instructions: 'Count.',
    });
  }
  await lead.close();
}

/** The faults besides killed workers, if these have a server. */
const FAULTS = ['server killed', 'network cut', 'network silent'] as const;

async function injectFault(server: SiteServer, fault: (typeof FAULTS)[number] | undefined): Promise<void> {
  if (fault === 'server killed') return server.restart();
  server.network.cut({ isSilent: fault === 'network silent' });
  await sleep(KILL_INTERVAL_MS);
  return server.network.restore();
}

/** Keeps the workers running and periodically kills the oldest busy worker, until all work is done. */
async function drain(site: WorkerSite, store: Store): Promise<number> {
  const workers = Array.from({ length: WORKERS }, () => site.startWorker());
  onTestFinished(() => {
    for (const { child } of workers) child.kill('SIGKILL');
  });
  await Promise.all(workers.map(async ({ ready }) => ready));
  let kills = 0;
  let executed = 0;
  while (await hasOpenWork(store)) {
    await sleep(KILL_INTERVAL_MS);
    const oldestIndex = workers.findIndex(({ isReady }) => isReady);
    const { length } = await site.readEffects();
    // On a busy host, a worker can take longer to start: without this, each would be killed before it claims anything.
    if (kills === KILLS || oldestIndex === -1 || length === executed) continue;
    executed = length;
    const [killed] = workers.splice(oldestIndex, 1);
    // The last to be killed again: in its place, it would be killed before any other.
    workers.push(site.startWorker());
    killed?.child.kill('SIGKILL');
    const { server } = site;
    if (server !== undefined) await injectFault(server, FAULTS[kills % FAULTS.length]);
    kills += 1;
  }
  const exits = workers.map(async ({ child, ready }) => {
    await ready;
    child.kill('SIGTERM');
    return once(child, 'exit');
  });
  expect(await Promise.all(exits)).toEqual(workers.map(() => [0, null]));
  return kills;
}

describe.each<{ route: Route; clock: 'steady' | 'jumping' }>([
  { route: 'database', clock: 'steady' },
  { route: 'https', clock: 'steady' },
  { route: 'database', clock: 'jumping' },
  { route: 'https', clock: 'jumping' },
])('workers ($route, $clock clocks) that are killed periodically', ({ route, clock }) => {
  it('execute no order twice, and finish all work', { timeout: 120_000 + ORDERS * 5000 }, async () => {
    const site = await makeWorkerSite(16, { route, hasJumpingClocks: clock === 'jumping' });
    const store = await openStore(site.url);
    onTestFinished(async () => store.close());
    await submitOrders(site, store);
    const kills = await drain(site, store);
    const orders = await readOrders(store);
    expect(orders).toHaveLength(ORDERS);
    expect(await findViolations(site, store, orders)).toEqual([]);
    expect((await store.listOutbox({ state: 'waiting' })).items).toEqual([]);
    const needsHuman = orders.filter(({ decision }) => decision?.action === 'needs-human').length;
    report(
      `${WORKERS} workers (${route}, ${clock} clocks), ${kills} kills${route === 'https' ? ' and as many kills of the server or network cuts' : ''}: ${ORDERS} orders executed, 0 twice; ${needsHuman} passed to a human because their process exit is unknown`,
    );
  });
});
