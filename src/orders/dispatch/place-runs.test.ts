import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/index.js';
import { createFailedResult } from '../../runs/index.js';
import { PlacementError } from '../../runs/sandbox/index.js';
import type { RunSpec } from '../../store/records/index.js';
import { cleanEnd, goodResult, makeRequest, startLead } from '../lead/fixtures/start-lead.js';
import { createMemoryPlacement, type MemoryPlaces } from '../placement/contract/fixtures/memory-placement.js';
import type { Placement, PlacementReport } from '../placement/index.js';
import { createPlacer } from './place-runs.js';
import { createMissingSweep } from './start-placing.js';
import type { BudgetSettings } from './worker-options.js';

const LEASE_MS = 30_000;
const POD = { type: 'script', command: ['true'], placement: 'kubernetes', image: 'agents:1', cpu: 2 } as const;

/** A lead whose orders are placed in memory, servers that place them, and the workers in their places. */
async function openSite() {
  let now = Date.now();
  const site = await startLead({ clock: () => now, wrappers: { pod: POD } });
  const { lead, store, data } = site;
  const places: MemoryPlaces = new Map();
  let tokens = 0;
  const openServer = (changes: Partial<Placement> = {}, workerLostRetries?: number, budgets?: BudgetSettings) => {
    const placement = { ...createMemoryPlacement(places), ...changes };
    return createPlacer(placement, {
      store,
      lead,
      data,
      placements: [placement],
      server: 'https://sluice.example.org',
      createRunToken() {
        tokens += 1;
        return { token: `token-${tokens}`, workerId: `run:token-${tokens}` };
      },
      clock: () => now,
      leaseMs: LEASE_MS,
      logger: silentLogger,
      workerLostRetries,
      budgets,
    });
  };
  const find = async (id: string) => store.findRun(id);
  const getPlace = (id: string) => {
    const place = places.get(`place-${id}`);
    if (place === undefined) throw new Error(`The run ${id} has no place.`);
    return place;
  };
  /** The worker in a place takes the claim over, under its own name. */
  const take = async (id: string, { token = getPlace(id).run.token, process = 'one' } = {}) =>
    store.takePlaced({
      id,
      from: `run:${token}`,
      worker: { worker_id: `run:${token}/${process}`, host: 'pod', pid: 1, pid_started: null },
      leaseMs: LEASE_MS,
      now,
    });
  const begin = async (id: string) => {
    const taken = await take(id);
    const workerId = taken?.record.owner?.worker_id ?? '';
    expect(await store.markStarted({ id, workerId, now })).toBe('started');
    getPlace(id).report = { state: 'alive' };
    return workerId;
  };
  return {
    ...site,
    places,
    openServer,
    find,
    getPlace,
    take,
    begin,
    report: (id: string, report: PlacementReport) => void (getPlace(id).report = report),
    pass: (ms: number) => void (now += ms),
    now: () => now,
    submit: async (changes: Parameters<typeof makeRequest>[0] = {}) =>
      lead.submit(makeRequest({ worker: 'pod', ...changes })),
    /** Sweeps until all places that it starts have started. */
    sweep: async (server: ReturnType<typeof openServer>) => {
      await server.sweep();
      await server.settled();
    },
  };
}

type Site = Awaited<ReturnType<typeof openSite>>;

/** Queues a run without an order. */
async function addRun({ store, now }: Site, id: string, changes: Partial<RunSpec> = {}): Promise<string> {
  const spec = { engine: 'command', command: ['true'], workdir: '/work', placement: 'kubernetes', ...changes } as const;
  await store.createRun({ id, spec, state: 'queued', now: now() });
  return id;
}

const identify = (id: string) => ({ worker_id: id, host: 'host', pid: 1, pid_started: null });

describe('placing', () => {
  it('starts a place for a run that no worker claims, with a token that its worker takes once', async () => {
    const site = await openSite();
    const { store, now, submit, sweep, openServer, getPlace, take, find } = site;
    const { run, order } = await submit();
    expect(await store.claimRun({ worker: identify('w'), leaseMs: LEASE_MS, now: now() })).toBeUndefined();
    const server = openServer();
    await sweep(server);
    expect(getPlace(run).run).toMatchObject({
      id: run,
      order: order.run_id,
      server: 'https://sluice.example.org',
      token: 'token-1',
      image: 'agents:1',
      cpu: 2,
    });
    expect(await find(run)).toMatchObject({ state: 'running', owner: { worker_id: 'run:token-1' } });
    expect(await take(run, { token: 'token-9' })).toBeUndefined();
    expect((await take(run))?.order?.order.run_id).toBe(order.run_id);
    expect(await take(run, { process: 'another' })).toBeUndefined();
    // The answer was lost, and the same process asks again.
    expect(await take(run)).toBeDefined();
    await sweep(server);
    expect(site.places.size).toBe(1);
  });

  it('keeps the claim until the worker takes it over, however long the place is pending', async () => {
    const { submit, sweep, openServer, pass, find, begin, now } = await openSite();
    const { run } = await submit();
    const server = openServer();
    await sweep(server);
    for (let round = 0; round < 10; round += 1) {
      pass(LEASE_MS / 2);
      await sweep(server);
    }
    expect((await find(run))?.lease_until).toBe(now() + LEASE_MS);
    await begin(run);
    const renewedAt = now();
    pass(LEASE_MS / 2);
    await sweep(server);
    // From now on only its worker renews it.
    expect((await find(run))?.lease_until).toBe(renewedAt + LEASE_MS);
  });

  it('places each run once, whichever of two servers sweeps', async () => {
    const site = await openSite();
    const runs = await Promise.all(Array.from({ length: 12 }, async (_, index) => addRun(site, `run-${index}`)));
    let calls = 0;
    const inner = createMemoryPlacement(site.places);
    const counted: Partial<Placement> = {
      async place(run) {
        calls += 1;
        await nextTurn();
        return inner.place(run);
      },
    };
    const servers = [site.openServer(counted), site.openServer(counted)];
    for (let round = 0; round < 3; round += 1) await Promise.all(servers.map(site.sweep));
    expect(site.places.size).toBe(runs.length);
    expect(calls).toBe(runs.length);
  });

  it('removes the place of a run that has ended', async () => {
    const site = await openSite();
    const { store, sweep, openServer, begin, places, now } = site;
    const run = await addRun(site, 'run-1');
    const server = openServer();
    await sweep(server);
    const workerId = await begin(run);
    const result = createFailedResult('PROCESS_EXIT_NON_ZERO', 'The process did not exit with code 0.');
    await store.endRun({ id: run, workerId, result, now: now() });
    await sweep(server);
    expect(places.size).toBe(0);
    expect(await store.listPlaced()).toEqual([]);
  });

  it('ends a run that was canceled before its worker took it', async () => {
    const site = await openSite();
    const { store, sweep, openServer, places, find, submit, now } = site;
    const plain = await addRun(site, 'run-1');
    const { run: ordered } = await submit();
    const server = openServer();
    await sweep(server);
    for (const id of [plain, ordered]) await store.requestCancel(id, now());
    site.pass(LEASE_MS / 2);
    await sweep(server);
    expect((await find(plain))?.result).toMatchObject({ status: 'canceled' });
    expect((await find(ordered))?.state).toBe('ended');
    await sweep(server);
    expect(places.size).toBe(0);
  });
});

describe('a budget that is used up', () => {
  it('keeps a run in the queue, without a place, until it is reset', async () => {
    const site = await openSite();
    const { sweep, find, places, pass, store, now } = site;
    const run = await addRun(site, 'run-1', { engine: 'codex', command: undefined, prompt: 'Work.' } as never);
    await store.recordRequest({ run: 'run-1', caller: 'ann', issueRef: null, now: now() });
    const server = site.openServer({}, undefined, { day: { tokens: 0 } });
    await sweep(server);
    expect(places.size).toBe(0);
    expect(await find(run)).toMatchObject({ state: 'queued', waiting_for: { reason: 'budget', budget: 'day' } });
    const rich = site.openServer({}, undefined, { day: { tokens: 1_000_000 } });
    await sweep(rich);
    expect(places.size).toBe(0);
    pass(24 * 60 * 60_000);
    await sweep(rich);
    expect(places.size).toBe(1);
  });
});

describe('a placement that no server has', () => {
  const openMissing = ({ store, lead, data, now }: Site) =>
    createMissingSweep({
      store,
      lead,
      data,
      placements: [],
      server: 'https://sluice.example.org',
      createRunToken: () => ({ token: 'token', workerId: 'run:token' }),
      clock: now,
      leaseMs: LEASE_MS,
      logger: silentLogger,
    });

  it('ends its queued runs after wait_s, with the reason', async () => {
    const site = await openSite();
    const sweep = openMissing(site);
    const run = await addRun(site, 'run-1', { limits: { wait_s: 100 } });
    await sweep();
    expect(await site.find(run)).toMatchObject({
      state: 'queued',
      waiting_for: { reason: 'placement', placement: 'kubernetes' },
    });
    site.pass(100_000);
    await sweep();
    expect((await site.find(run))?.result?.error).toMatchObject({
      code: 'PLACEMENT_FAILED',
      message: expect.stringContaining('no server has the placement "kubernetes"'),
    });
  });

  it('leaves its runs alone while another server has it', async () => {
    const site = await openSite();
    const { store, now } = site;
    const run = await addRun(site, 'run-1', { limits: { wait_s: 0 } });
    await store.leaseJobs({ names: ['placing on kubernetes'], owner: 'other', now: now(), until: now() + LEASE_MS });
    await openMissing(site)();
    expect(await site.find(run)).toMatchObject({ state: 'queued' });
  });

  it('gives its placed runs to a human once their workers are silent', async () => {
    const site = await openSite();
    const { run, order } = await site.submit();
    await site.sweep(site.openServer());
    await site.begin(run);
    const sweep = openMissing(site);
    for (let round = 0; round < 4; round += 1) {
      site.pass(LEASE_MS);
      await sweep();
    }
    expect(await site.inbox()).toMatchObject([{ run_id: order.run_id }]);
  });
});

describe('a place that cannot be started', () => {
  it('ends the run with the cause; its order goes to a human', async () => {
    const site = await openSite();
    const refuse: Partial<Placement> = {
      place: async () => Promise.reject(new PlacementError('quota', 'exceeded quota: pods')),
    };
    const server = site.openServer(refuse);
    const plain = await addRun(site, 'run-1');
    const { run, order } = await site.submit();
    await site.sweep(server);
    const error = {
      code: 'PLACEMENT_FAILED',
      cause: 'quota',
      message: expect.stringContaining('exceeded quota: pods'),
    };
    expect((await site.find(plain))?.result?.error).toMatchObject(error);
    expect((await site.find(run))?.result?.error).toMatchObject(error);
    const settled = await site.store.findOrder(order.issue_ref, order.run_id);
    expect(settled?.decision).toMatchObject({ action: 'needs-human', reason: expect.stringContaining('quota: pods') });
  });

  it('is tried again after an outage, and what an unanswered try has left is removed first', async () => {
    const site = await openSite();
    const { sweep, find, getPlace, places, pass } = site;
    const run = await addRun(site, 'run-1');
    const inner = createMemoryPlacement(places);
    let isOut = true;
    const server = site.openServer({
      async place(placed) {
        const handle = await inner.place(placed);
        if (isOut) throw new Error('no answer');
        return handle;
      },
    });
    await sweep(server);
    expect(await find(run)).toMatchObject({ state: 'queued', owner: null });
    expect(getPlace(run).run.token).toBe('token-1');
    isOut = false;
    pass(LEASE_MS);
    await sweep(server);
    await sweep(server);
    expect(getPlace(run).run.token).toBe('token-2');
    expect(await find(run)).toMatchObject({ state: 'running', owner: { worker_id: 'run:token-2' } });
  });

  it('ends the run when it reports for a minute that its image is missing', async () => {
    const site = await openSite();
    const { sweep, find, report, pass, places } = site;
    const run = await addRun(site, 'run-1');
    const server = site.openServer();
    await sweep(server);
    report(run, { state: 'pending', cause: 'image', reason: 'ImagePullBackOff' });
    for (let round = 0; round < 4; round += 1) {
      pass(LEASE_MS);
      await sweep(server);
    }
    expect((await find(run))?.result?.error).toMatchObject({ code: 'PLACEMENT_FAILED', cause: 'image' });
    expect(places.size).toBe(0);
  });

  it('does not block others while it is slow, and keeps its claim', async () => {
    const site = await openSite();
    const { store, find, places, now } = site;
    const run = await addRun(site, 'run-1');
    const inner = createMemoryPlacement(places);
    let answer: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const server = site.openServer({
      async place(placed) {
        if (placed.id === run) await slow;
        return inner.place(placed);
      },
    });
    await server.sweep();
    const other = await addRun(site, 'run-2');
    await server.sweep();
    await expect.poll(async () => places.has(`place-${other}`)).toBe(true);
    expect(await store.listToPlace(now(), 10)).toEqual([]);
    expect(await find(run)).toMatchObject({ state: 'running' });
    answer();
    await server.settled();
    expect((await store.listPlaced()).map(({ name }) => name)).toEqual([`place-${run}`, `place-${other}`]);
  });
});

describe('a place that is gone', () => {
  it('before its worker has started anything, is replaced; the old token is worth nothing', async () => {
    const site = await openSite();
    const { sweep, find, report, pass, getPlace, take } = site;
    const run = await addRun(site, 'run-1');
    const server = site.openServer();
    await sweep(server);
    report(run, { state: 'gone', cause: 'evicted', reason: 'the node was drained' });
    pass(LEASE_MS / 2);
    await sweep(server);
    expect(await take(run, { token: 'token-1' })).toBeUndefined();
    pass(LEASE_MS);
    await sweep(server);
    await sweep(server);
    expect(getPlace(run).run.token).toBe('token-2');
    expect(await take(run, { token: 'token-1' })).toBeUndefined();
    expect(await take(run)).toBeDefined();
    expect(await find(run)).toMatchObject({ state: 'running', started_at: null });
  });

  it('again and again, ends the run', async () => {
    const site = await openSite();
    const { sweep, find, places, pass } = site;
    const run = await addRun(site, 'run-1');
    const server = site.openServer();
    for (let round = 0; round < 30 && (await find(run))?.state !== 'ended'; round += 1) {
      await sweep(server);
      for (const place of places.values()) place.report = { state: 'gone' };
      pass(60_000);
    }
    expect((await find(run))?.result?.error).toMatchObject({ code: 'PLACEMENT_FAILED', cause: 'unknown' });
  });

  it('under a started order: claim and token end first, and the order is placed again once, then a human decides', async () => {
    const site = await openSite();
    const { store, lead, sweep, find, report, pass, begin, inbox, submit } = site;
    const { run, order } = await submit();
    const server = site.openServer();
    await sweep(server);
    const workerId = await begin(run);
    report(run, { state: 'gone', cause: 'node_lost', reason: 'the node was deleted' });
    pass(LEASE_MS / 2);
    await sweep(server);
    expect((await find(run))?.result?.error).toMatchObject({ code: 'PLACEMENT_FAILED', cause: 'node_lost' });
    // A survivor can publish and settle nothing.
    await expect(lead.settle({ ...cleanEnd({ order }), heldBy: workerId })).resolves.toMatchObject({ repeated: true });
    expect(await store.renewRun({ id: run, workerId, leaseMs: 1, now: site.now() })).toMatchObject({ held: false });
    const retried = (await store.findIssue(order.issue_ref))?.active_run_id ?? '';
    expect(retried).not.toBe(order.run_id);
    expect(await inbox()).toEqual([]);
    const second = (await store.findOrder(order.issue_ref, retried))?.run ?? '';
    await sweep(server);
    await begin(second);
    report(second, { state: 'gone' });
    pass(LEASE_MS / 2);
    await sweep(server);
    expect((await find(second))?.result?.error).toMatchObject({ code: 'WORKER_GONE' });
    expect(await inbox()).toMatchObject([{ run_id: retried }]);
  });

  it('under a started order with retries.worker_lost 0 goes to a human, who reads why it was lost', async () => {
    const site = await openSite();
    const { run, order } = await site.submit();
    const server = site.openServer({}, 0);
    await site.sweep(server);
    await site.begin(run);
    site.report(run, { state: 'gone', cause: 'evicted', reason: 'the node was drained' });
    site.pass(LEASE_MS / 2);
    await site.sweep(server);
    expect(await site.inbox()).toMatchObject([{ run_id: order.run_id }]);
    const settled = await site.store.findOrder(order.issue_ref, order.run_id);
    expect(settled?.decision?.reason).toMatch(
      /exit status is unknown.*PLACEMENT_FAILED, evicted.*the node was drained/s,
    );
  });
});

describe('a place whose state is unknown', () => {
  it('changes nothing while its worker renews its claim, and goes to a human when it has not for a while', async () => {
    const site = await openSite();
    const { store, sweep, find, report, pass, begin, inbox, submit, now } = site;
    const { run, order } = await submit();
    const server = site.openServer();
    await sweep(server);
    const workerId = await begin(run);
    report(run, { state: 'unknown', cause: 'node_lost', reason: 'the node does not answer' });
    for (let round = 0; round < 5; round += 1) {
      pass(LEASE_MS / 2);
      expect(await store.renewRun({ id: run, workerId, leaseMs: LEASE_MS, now: now() })).toMatchObject({ held: true });
      await sweep(server);
    }
    pass(LEASE_MS + 1);
    await sweep(server);
    expect(await find(run)).toMatchObject({ state: 'running' });
    pass(LEASE_MS);
    await sweep(server);
    expect(await find(run)).toMatchObject({ state: 'ended', result: { error: { cause: 'node_lost' } } });
    expect(await inbox()).toMatchObject([{ run_id: order.run_id }]);
  });

  it('is what a placement that throws or does not answer counts as', async () => {
    const site = await openSite();
    const { sweep, find, pass, begin } = site;
    const run = await addRun(site, 'run-1');
    const server = site.openServer({ state: async () => Promise.reject(new Error('unreachable')) });
    await sweep(server);
    await begin(run);
    pass(LEASE_MS / 2);
    await sweep(server);
    expect(await find(run)).toMatchObject({ state: 'running' });
  });
});

describe('a placement that misbehaves', () => {
  it('and reports a living worker as gone, causes no second result', async () => {
    const site = await openSite();
    const { lead, store, sweep, report, pass, begin, submit } = site;
    const { run, order } = await submit();
    const server = site.openServer({}, 0);
    await sweep(server);
    const workerId = await begin(run);
    report(run, { state: 'gone' });
    pass(1000);
    // Its worker settles at the same moment.
    const reading = { source: 'json', result: goodResult({ order }), problems: [] } as never;
    const late = lead.settle({ ...cleanEnd({ order }), reading, heldBy: workerId }).catch((error: unknown) => error);
    pass(LEASE_MS / 2);
    await sweep(server);
    await late;
    const { items } = await store.listExecutions({});
    expect(items.filter(({ run_id }) => run_id === order.run_id)).toHaveLength(1);
  });

  it('and starts a run twice, executes it once', async () => {
    const site = await openSite();
    const run = await addRun(site, 'run-1');
    await site.sweep(site.openServer());
    const takes = await Promise.all(['one', 'two', 'three'].map(async (process) => site.take(run, { process })));
    expect(takes.filter((taken) => taken !== undefined)).toHaveLength(1);
  });

  it('and loses the place of a claim whose server has crashed, has the run placed again', async () => {
    const site = await openSite();
    const { store, sweep, find, pass, getPlace, now } = site;
    const run = await addRun(site, 'run-1');
    await store.claimToPlace({ id: run, workerId: 'run:lost', placement: 'kubernetes', leaseMs: LEASE_MS, now: now() });
    const server = site.openServer();
    await sweep(server);
    expect(await find(run)).toMatchObject({ owner: { worker_id: 'run:lost' } });
    pass(LEASE_MS + 1);
    await sweep(server);
    await sweep(server);
    expect(getPlace(run).run.token).toBe('token-1');
    expect(await find(run)).toMatchObject({ state: 'running', owner: { worker_id: 'run:token-1' } });
  });

  it('finds the place that a crashed server had started but not recorded', async () => {
    const site = await openSite();
    const { store, sweep, find, pass, places, now } = site;
    const run = await addRun(site, 'run-1');
    await store.claimToPlace({ id: run, workerId: 'run:lost', placement: 'kubernetes', leaseMs: LEASE_MS, now: now() });
    await createMemoryPlacement(places).place({ id: run, server: '', token: 'lost' });
    pass(LEASE_MS + 1);
    const server = site.openServer();
    await sweep(server);
    await sweep(server);
    expect((await store.listPlaced()).map(({ name }) => name)).toEqual([`place-${run}`]);
    expect(await site.take(run)).toBeDefined();
    expect(await find(run)).toMatchObject({ owner: { worker_id: 'run:lost/one' } });
  });
});
