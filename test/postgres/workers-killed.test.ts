import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLead } from '../../src/orders/index.js';
import { openStore, type Store } from '../../src/store/index.js';
import { report } from '../report.js';
import { findViolations, hasOpenWork, readOrders } from './work-done.js';
import { makeWorkerSite, type WorkerSite } from './worker-site.js';

/** Larger in `npm run torture`: four workers, two thousand orders, one kill per second until everything is done. */
const ORDERS = Number(process.env['ORDERS'] ?? 40);
const WORKERS = Number(process.env['WORKERS'] ?? 2);
const KILLS = Number(process.env['WORKER_KILLS'] ?? 2);
/** The time between two kills, so that each hits workers that are busy. */
const KILL_MS = 1000;

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

/** Keeps this many workers running and kills the oldest busy one from time to time, until all work is done. */
async function drain(site: WorkerSite, store: Store): Promise<number> {
  const workers = Array.from({ length: WORKERS }, () => site.startWorker());
  onTestFinished(() => {
    for (const { child } of workers) child.kill('SIGKILL');
  });
  await Promise.all(workers.map(async ({ ready }) => ready));
  let kills = 0;
  while (await hasOpenWork(store)) {
    await sleep(KILL_MS);
    const oldest = workers.findIndex(({ isReady }) => isReady);
    if (kills === KILLS || oldest === -1) continue;
    const [killed] = workers.splice(oldest, 1, site.startWorker());
    killed?.child.kill('SIGKILL');
    kills += 1;
  }
  const ends = workers.map(async ({ child, ready }) => {
    await ready;
    child.kill('SIGTERM');
    return once(child, 'exit');
  });
  expect(await Promise.all(ends)).toEqual(workers.map(() => [0, null]));
  return kills;
}

describe('workers in several processes that are killed from time to time', () => {
  it('execute no order twice, and leave nothing open', { timeout: 120_000 + ORDERS * 1000 }, async () => {
    const site = await makeWorkerSite(16);
    const store = await openStore(site.url);
    onTestFinished(async () => store.close());
    await submitOrders(site, store);
    const kills = await drain(site, store);
    const orders = await readOrders(store);
    expect(orders).toHaveLength(ORDERS);
    expect(await findViolations(site, store, orders)).toEqual([]);
    expect((await store.listOutbox({ state: 'waiting' })).items).toEqual([]);
    const asked = orders.filter(({ decision }) => decision?.action === 'needs-human').length;
    report(
      `${WORKERS} workers, ${kills} kills: ${ORDERS} orders executed, 0 twice; ${asked} passed to a person because their process exit is unknown`,
    );
  });
});
