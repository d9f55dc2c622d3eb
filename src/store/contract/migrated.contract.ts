import { expect } from 'vitest';
import { getPosition } from '../../events/index.js';
import type { Emitted } from '../../events/index.js';
import { sumCounts } from '../roll-up.js';
import type { Store } from '../store.js';
import { sampleClaim, NOW, sampleHold, sampleSettlement } from './fixtures/order-samples.js';
import { createRunResult, UNTRUSTED_TEXT, sampleFcmp, sampleRasp } from './fixtures/run-samples.js';

/**
 * Asserts the content of a migrated store written by version 0.1.0: an order in each possible state, an ended run and a
 * queued run. The store is in `fixtures/store-0.1.0.*`.
 */
export async function expectMigrated(store: Store): Promise<void> {
  const orders = (await store.listOrders({ limit: 100 })).items;
  const states = Object.fromEntries(orders.map(({ order, state }) => [`${order.issue_ref} ${order.run_id}`, state]));
  expect(states).toEqual({
    'local#settled 2026-11-15-backend-0001': 'settled',
    'local#asked 2026-11-15-backend-0001': 'settled',
    'local#canceled 2026-11-15-backend-0001': 'canceled',
    'local#canceled 2026-11-15-backend-0002': 'queued',
    'local#claimed 2026-11-15-backend-0001': 'running',
    'local#running 2026-11-15-backend-0001': 'running',
    'local#torn 2026-11-15-backend-0001': 'running',
    'local#queued 2026-11-15-backend-0001': 'queued',
  });

  const settled = orders.find(({ order }) => order.issue_ref === 'local#settled');
  expect(settled?.decision).toEqual({
    action: 'advance',
    reason: 'It is advance.',
    result_code: 'none',
    next: 'Look at it.',
  });
  expect((await store.findItem('item-asked'))?.run).toBe('01KA3ORDERASKED00000000000');
  expect((await store.listExecutions({ issueRef: 'local#settled' })).items).toMatchObject([
    { run: settled?.run, result_code: 'none' },
  ]);
  expect((await store.listExecutions({ issueRef: 'local#settled' })).items[0]).not.toHaveProperty('run_ulid');

  // Claimed runs that never started are queued again; started runs are reconciled, even if only their order is open.
  expect(await store.requeueExpired(NOW + 9999)).toBe(1);
  const expired = await store.listExpiredRuns(NOW + 9999);
  const owners = expired.map(({ order, owner }) => `${order?.issue_ref} ${owner?.worker_id}`);
  expect(owners.toSorted()).toEqual(['local#running w-running', 'local#torn w-torn']);
  for (const { order } of expired) {
    const record = await store.findOrder(order?.issue_ref ?? '', order?.run_id ?? '');
    if (record !== undefined) await store.settleOrder(sampleSettlement(record));
  }
  expect(await store.listExpiredRuns(NOW + 9999)).toEqual([]);

  // The queue keeps its order: by priority, then by age.
  const claimed: string[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const next = (await store.claimRun(sampleClaim()))?.record;
    claimed.push(next?.order?.issue_ref ?? next?.id ?? 'none');
  }
  expect(claimed.slice(0, 2)).toEqual(['local#claimed', 'local#queued']);
  expect(claimed.slice(2).toSorted()).toEqual(['local#canceled', 'none', 'run-queued']);

  const [found] = (await store.listRuns({ search: 'mend the wheel' })).items;
  expect(found).toMatchObject({ id: 'run-ended', state: 'ended', result: { status: 'success' } });
  expect((await store.listRuns({ search: 'local#queued' })).items).toHaveLength(1);
  expect(await store.read({ runId: 'run-ended', protocol: 'fcmp', limit: 10 })).toHaveLength(1);
}

/**
 * Asserts the content of a migrated store with one event per row, as in the last schema version before events were
 * packed: orders and runs in each state, and the events of two attempts. The store is in `fixtures/store-form-*`.
 */
export async function expectUnpackedMigrated(store: Store): Promise<void> {
  const orders = (await store.listOrders({ limit: 100 })).items;
  expect(Object.fromEntries(orders.map(({ order, state }) => [order.issue_ref, state]))).toEqual({
    'local#settled': 'settled',
    'local#asked': 'settled',
    'local#running': 'running',
    'local#queued': 'queued',
  });
  const running = orders.find(({ order }) => order.issue_ref === 'local#running');
  await expectCounted(store);
  expect(running).toMatchObject({ base_commit: 'abc1234' });

  const rasp = await store.read({ runId: 'run-ended', protocol: 'rasp', limit: 1000 });
  const fcmp = await store.read({ runId: 'run-ended', protocol: 'fcmp', limit: 1000, after: 200 });
  expect(rasp[1]).toEqual(sampleRasp(1, 2, UNTRUSTED_TEXT));
  expect(await readAll(store, 'rasp')).toEqual([
    sampleRasp(1, 1),
    sampleRasp(1, 2, UNTRUSTED_TEXT),
    ...Array.from({ length: 300 }, (_, index) => sampleRasp(1, index + 3)),
    sampleRasp(2, 1),
    sampleRasp(2, 2),
  ]);
  expect(fcmp[0]).toEqual(sampleFcmp(201));
  expect(await readAll(store, 'fcmp')).toHaveLength(303);

  // Work continues and adds events; existing rows are not changed.
  const run = running?.run ?? '';
  await store.append(run, [sampleFcmp(1, 'another'), sampleFcmp(2)]);
  expect(await store.read({ runId: run, protocol: 'fcmp', limit: 10 })).toEqual([sampleFcmp(1), sampleFcmp(2)]);
  if (running !== undefined) await store.settleOrder(sampleSettlement(running));
  const claimed = [await store.claimRun(sampleClaim('w3')), await store.claimRun(sampleClaim('w3'))];
  expect(claimed.map((each) => each?.record.order?.issue_ref ?? each?.record.id)).toEqual([
    'local#queued',
    'run-queued',
  ]);
  await store.markStarted(sampleHold({ run: 'run-queued' }, 'w3'));
  expect(await store.endRun({ ...sampleHold({ run: 'run-queued' }, 'w3'), result: createRunResult() })).toBe(true);
  expect((await store.listRuns({ search: 'mend the wheel' })).items).toMatchObject([
    { id: 'run-ended', state: 'ended' },
  ]);
}

/**
 * Asserts that runs that ended before the migration are in the statistics immediately, and are moved into their slots
 * gradually.
 */
async function expectCounted(store: Store): Promise<void> {
  const count = async (): Promise<number> => {
    const slots = await store.listRunSlots({ since: 0, until: NOW * 2, stepMs: 86_400_000 });
    const { outcomes } = sumCounts(slots.map(({ counts }) => counts));
    return Object.values(outcomes).reduce((sum, each) => sum + each, 0);
  };
  const { items } = await store.listRuns({ state: 'ended' });
  expect(await count()).toBe(items.length);
  expect(await store.countEndedRuns(1)).toBe(1);
  while ((await store.countEndedRuns(1)) > 0) expect(await count()).toBe(items.length);
  expect(await count()).toBe(items.length);
}

async function readAll(store: Store, protocol: 'rasp' | 'fcmp'): Promise<Emitted[]> {
  const all: Emitted[] = [];
  for (;;) {
    const last = all.at(-1);
    const position = last === undefined ? undefined : getPosition(last);
    const after =
      position === undefined
        ? {}
        : { after: protocol === 'fcmp' ? position.seq : `${position.attempt}:${position.seq}` };
    const page = await store.read({ runId: 'run-ended', protocol, limit: 100, ...after });
    if (page.length === 0) return all;
    all.push(...page);
  }
}
