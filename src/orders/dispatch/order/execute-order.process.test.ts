import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../base/index.js';
import type { ClaimedRun } from '../../../store/ports/index.js';
import { openStore } from '../../../store/open-store.js';
import { StoreError } from '../../../store/store-error.js';
import type { Store } from '../../../store/store.js';
import { executeRun } from '../execute-run.js';
import { setUpWorker } from '../fixtures/set-up-worker.js';
import type { Instructions } from '../fixtures/set-up-worker.js';
import type { WorkContext } from '../worker-options.js';

const WORKER = { worker_id: 'w1', host: hostname(), pid: process.pid, pid_started: null };
const LEASE_MS = 300;

interface Setting {
  readonly store?: Store;
  readonly request?: Readonly<Record<string, unknown>>;
  readonly limits?: { readonly time_s: number };
}

/** Creates a claimed order for a script that follows its instructions. */
async function withClaim(instructions: Instructions, { store: givenStore, request, limits }: Setting = {}) {
  const site = await setUpWorker({
    ...(givenStore === undefined ? {} : { store: givenStore }),
    ...(limits && { limits }),
  });
  const submitted = await site.submit('acme/shop#12', instructions, request);
  const claimed = await site.store.claimRun({ worker: WORKER, leaseMs: LEASE_MS, now: Date.now() });
  if (claimed === undefined) throw new Error('nothing to claim');
  const execute = async (overrides: Partial<WorkContext> = {}, run: ClaimedRun = claimed) => {
    const { signal } = new AbortController();
    const context = {
      store: site.store,
      lead: site.lead,
      runs: { data: site.data },
      leaseMs: LEASE_MS,
      clock: Date.now,
    };
    await executeRun({ ...context, logger: silentLogger, signal, ...overrides }, run, 'w1');
  };
  const order = async () => site.store.findOrder('acme/shop#12', submitted.order.run_id);
  const run = async () => site.store.findRun(submitted.run);
  const executions = async () => (await site.store.listExecutions({})).items;
  return { ...site, submitted, execute, order, run, executions };
}

describe('executing an order', () => {
  it('passes the order to the agent, settles what it reports, and ends the run with it', async () => {
    const { execute, order, run, submitted, data } = await withClaim({ result: 'ok' });
    await execute();
    expect((await order())?.decision?.action).toBe('advance');
    expect(await run()).toMatchObject({ state: 'ended', result: { status: 'success', process: { exit_code: 0 } } });
    expect(existsSync(join(data, 'runs', submitted.run, 'work_order.json'))).toBe(true);
  });

  it('does not wait for the disk: data that must survive a power failure is in the store', async () => {
    const { execute, order, data } = await withClaim({ result: 'ok' });
    const handle = await open(join(data, 'repository', 'README.md'));
    const sync = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'sync');
    await handle.close();
    await execute();
    expect(sync).not.toHaveBeenCalled();
    sync.mockRestore();
    expect((await order())?.decision?.action).toBe('advance');
  });

  it.each([-60_000, 60_000])("accepts a result regardless of the store's clock, %i ms apart", async (skewMs) => {
    const { execute, order } = await withClaim({ result: 'ok' });
    await execute({ clock: () => Date.now() + skewMs });
    expect((await order())?.decision).toMatchObject({ action: 'advance' });
  });

  it('does not touch an order that another worker has claimed meanwhile', async () => {
    const { execute, store, order, effects } = await withClaim({ result: 'ok' });
    await store.requeueExpired(Date.now() + 1000);
    await store.claimRun({ worker: { ...WORKER, worker_id: 'other' }, leaseMs: 60_000, now: Date.now() });
    await execute();
    expect(await order()).toMatchObject({ state: 'running', decision: null, started_at: null });
    expect(await effects()).toEqual([]);
  });

  it('does not start an order that was replaced after it was claimed, and archives it', async () => {
    const { execute, submit, order, effects } = await withClaim({ result: 'ok' });
    await submit('acme/shop#12', { result: 'ok' });
    await execute();
    expect(await order()).toMatchObject({ state: 'settled', decision: { action: 'archive' }, started_at: null });
    expect(await effects()).toEqual([]);
  });

  it('does not start an order that was canceled after it was claimed, and asks a human', async () => {
    const { execute, store, submitted, order, run } = await withClaim({ result: 'ok' });
    await store.requestCancel(submitted.run, Date.now());
    await execute();
    expect((await order())?.decision).toMatchObject({
      action: 'needs-human',
      result_code: 'manual_intervention',
      reason: 'The run was canceled before it started.',
    });
    expect(await run()).toMatchObject({ state: 'ended', result: { status: 'canceled' } });
  });

  it('puts an order back into the queue when the worker has no time left to start it', async () => {
    const { execute, order } = await withClaim({ result: 'ok' });
    await execute({ signal: AbortSignal.abort() });
    expect(await order()).toMatchObject({ state: 'queued', started_at: null });
  });

  it('stops the agent when the order is replaced, and archives its result', async () => {
    const { execute, submit, order, effects, store } = await withClaim({ sleep: 60_000 });
    const done = execute();
    await expect.poll(effects).toHaveLength(1);
    await submit('acme/shop#12', { result: 'ok' });
    await done;
    expect((await order())?.decision).toMatchObject({ action: 'archive', result_code: 'stale_run' });
    expect((await store.findIssue('acme/shop#12'))?.state).toBe('doing');
  });

  it('does not accept ok from an agent that was stopped', async () => {
    const { execute, order } = await withClaim({ result: 'ok', hang: true }, { limits: { time_s: 1 } });
    await execute();
    expect((await order())?.decision?.action).toBe('needs-human');
  });

  it('reports why an agent was stopped before it left a result, and where to look', async () => {
    const { execute, order, submitted } = await withClaim({ sleep: 60_000 }, { limits: { time_s: 0.5 } });
    await execute();
    const decision = (await order())?.decision;
    expect(decision?.reason).toMatch(/its process was terminated by signal SIGTERM after [\d.]+ s\. The run .*0\.5 s/);
    expect(decision?.next).toContain(`(sluice export ${submitted.run} DIR)`);
  });

  it('reports why the system killed an agent', async () => {
    const { execute, order } = await withClaim({ kill: true });
    await execute();
    expect((await order())?.decision?.reason).toMatch(/its process was terminated by signal SIGKILL after [\d.]+ s\.$/);
  });

  it('holds the claim while it prepares, runs and settles', async () => {
    const { execute, store, run, submitted } = await withClaim({ sleep: 60_000 });
    const done = execute();
    await expect.poll(async () => (await run())?.started_at).not.toBeNull();
    const first = (await run())?.lease_until ?? 0;
    await expect.poll(async () => (await run())?.lease_until ?? 0).toBeGreaterThan(first);
    expect(await store.listExpiredRuns(Date.now())).toEqual([]);
    await store.requestCancel(submitted.run, Date.now());
    await done;
  });

  it('settles with the observed exit code even if the store was briefly unavailable', async () => {
    const memory = await openStore('memory:');
    let failures = 2;
    const store: Store = {
      ...memory,
      settleOrder: async (settlement) => {
        failures -= 1;
        if (failures >= 0) throw new StoreError('STORE_UNAVAILABLE', 'gone for a moment');
        return memory.settleOrder(settlement);
      },
    };
    const { execute, executions } = await withClaim({ exit: 0 }, { store });
    await execute();
    expect(await executions()).toMatchObject([{ exit_code: 0, decision: 'needs-human' }]);
  });

  it('does not start an order that depends on unresolved issues', async () => {
    const { execute, executions, order, run } = await withClaim({}, { request: { depends_on: ['acme/shop#1'] } });
    await execute();
    expect((await order())?.decision).toMatchObject({ action: 'blocked', result_code: 'dep_unresolved' });
    expect(await executions()).toMatchObject([{ started_at: null, duration_ms: null, command: [] }]);
    expect(await run()).toMatchObject({ state: 'ended', result: { error: { code: 'RUN_NOT_STARTED' } } });
  });

  it('asks a human when its repository is missing', async () => {
    const { execute, order } = await withClaim({}, { request: { repo_dir: '/no/such/folder' } });
    await execute();
    expect((await order())?.decision).toMatchObject({
      action: 'needs-human',
      result_code: 'env_unavailable',
      reason: expect.stringContaining('/no/such/folder'),
    });
  });
});
