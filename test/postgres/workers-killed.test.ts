import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OrderRecord } from '../../src/records/index.js';
import { createLead } from '../../src/orders/index.js';
import { openStore, type Store } from '../../src/store/index.js';
import { report } from '../report.js';
import { makeWorkerSite, type WorkerSite } from './worker-site.js';

/** More in `npm run torture`: four workers, two thousand orders, a kill a second until all is done. */
const ORDERS = Number(process.env['ORDERS'] ?? 40);
const WORKERS = Number(process.env['WORKERS'] ?? 2);
const KILLS = Number(process.env['WORKER_KILLS'] ?? 2);
/** Between two kills, so that each meets workers that do something. */
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

/** Keeps so many workers and kills the oldest that is at work now and then, until nothing is left to do. */
async function drain(site: WorkerSite, store: Store): Promise<number> {
  const workers = Array.from({ length: WORKERS }, () => site.startWorker());
  onTestFinished(() => {
    for (const { child } of workers) child.kill('SIGKILL');
  });
  await Promise.all(workers.map(async ({ ready }) => ready));
  let kills = 0;
  while (await isAnythingLeft(store)) {
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

/** Orders that are not settled, or comments that are not delivered. */
async function isAnythingLeft(store: Store): Promise<boolean> {
  const lists = await Promise.all([
    store.listOrders({ open: true, limit: 1 }),
    store.listOutbox({ state: 'waiting', limit: 1 }),
    store.listOutbox({ state: 'sending', limit: 1 }),
  ]);
  return lists.some(({ items }) => items.length > 0);
}

async function readOrders(store: Store): Promise<OrderRecord[]> {
  const orders: OrderRecord[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await store.listOrders({ limit: 1000, ...(cursor === undefined ? {} : { cursor }) });
    orders.push(...page.items);
    cursor = page.next_cursor;
  }
  return orders;
}

/** What must not be, as sentences. */
async function findViolations(site: WorkerSite, store: Store, orders: readonly OrderRecord[]): Promise<string[]> {
  const effects = await site.readEffects();
  const comments = join(site.data, 'comments');
  const texts = await Promise.all(
    (await readdir(comments)).map(async (name) => readFile(join(comments, name), 'utf8')),
  );
  const markers = texts.flatMap((text) => text.match(/^Trigger: .*$/gm) ?? []);
  const violations: string[] = [];
  for (const { order, decision, state } of orders) {
    const { issue_ref: issueRef } = order;
    const times = effects.filter((line) => line === `${issueRef} ${order.run_id}`).length;
    const executions = (await store.listExecutions({ issueRef })).items.length;
    const issue = await store.findIssue(issueRef);
    if (state !== 'settled' || executions !== 1) violations.push(`${issueRef}: ${state}, ${executions} executions`);
    if (issue?.last_run_number !== 1) violations.push(`${issueRef}: ${issue?.last_run_number} runs`);
    if (times > 1) violations.push(`${issueRef}: done ${times} times`);
    const expected = decision?.action === 'advance' ? 'review' : 'needs-human';
    if (issue?.state !== expected) violations.push(`${issueRef}: ${decision?.action} and ${issue?.state}`);
    if (decision?.action === 'advance' && times !== 1) violations.push(`${issueRef}: went through without effect`);
  }
  if (texts.length !== orders.length || markers.length !== orders.length) {
    violations.push(`${orders.length} orders, ${texts.length} files of comments, ${markers.length} comments`);
  }
  return violations;
}

describe('workers in several processes, killed now and then', () => {
  it('do every order, none of them twice, and leave nothing open', { timeout: 120_000 + ORDERS * 1000 }, async () => {
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
      `${WORKERS} workers, ${kills} kills: ${ORDERS} orders executed, 0 twice; ${asked} given to a person because their exit is unknown`,
    );
  });
});
