import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { runResultOf } from '../../runs/result/fixtures/run-result-of.js';
import type { RunResult } from '../../records/run-result.js';
import { openMemoryStore } from '../../store/memory/open.js';
import { StoreError } from '../../store/store-error.js';
import type { Store } from '../../store/store.js';
import type { ExecutionPorts } from './execute-order.js';
import { goodResult, makeRequest, startLead } from './fixtures/lead-at-work.js';

const WORKER = { worker_id: 'w1', host: hostname(), pid: process.pid, pid_started: null };

const ENDED = runResultOf({ process: { exit_code: 0, signal: null, command: ['worker'], version: '1.0' } });

/** A lead with a claimed order, and a worker that does what the test says. */
async function withClaim(
  options: { readonly store?: Store; readonly request?: Parameters<typeof makeRequest>[0] } = {},
) {
  const at = await startLead({ store: options.store ?? openMemoryStore() });
  const submitted = await at.lead.submit(makeRequest(options.request));
  const claim = { worker: WORKER, leaseMs: 300, concurrency: {} };
  const claimed = await at.store.claimOrder({ ...claim, now: Date.now() });
  if (claimed === undefined) throw new Error('nothing to claim');
  const execute = async (startRun: ExecutionPorts['startRun'], more: Partial<ExecutionPorts> = {}) =>
    at.lead.execute(claimed, { workerId: 'w1', leaseMs: 300, startRun, ...more });
  const record = async () => at.store.findOrder('acme/shop#12', submitted.order.run_id);
  return { ...at, submitted, execute, record };
}

/** A run that goes on until it is canceled. */
function startEndless() {
  let end: (result: RunResult) => void = () => undefined;
  let isCanceled = false;
  const result = new Promise<RunResult>((resolve) => {
    end = resolve;
  });
  const cancel = () => {
    isCanceled = true;
    const error = { category: 'canceled', code: 'RUN_CANCELED', message: 'canceled' } as const;
    end({ ...ENDED, status: 'canceled', error });
  };
  return { run: { result, cancel }, isCanceled: () => isCanceled };
}

describe('executing an order', () => {
  it('gives the worker its order, and settles what it reports', async () => {
    const { execute, report, submitted, data } = await withClaim();
    const seen: string[] = [];
    const settlement = await execute(async ({ id, env }) => {
      seen.push(id, env['SLUICE_RUN_DIR'] ?? '');
      await report(submitted, 'work_result.json', goodResult(submitted));
      return { result: Promise.resolve(ENDED), cancel: () => undefined };
    });
    expect(settlement?.decision.action).toBe('advance');
    expect(seen).toEqual([submitted.run, `${data}/runs/${submitted.run}`]);
  });

  it('does not touch an order that somebody else holds by now', async () => {
    const { execute, store, record } = await withClaim();
    await store.releaseExpired(Date.now() + 1000, { ...WORKER, worker_id: 'other' });
    let hasStarted = false;
    const settlement = await execute(() => {
      hasStarted = true;
      return startEndless().run;
    });
    expect([settlement, hasStarted]).toEqual([undefined, false]);
    expect(await record()).toMatchObject({ state: 'queued', decision: null });
  });

  it('does not start an order that was replaced meanwhile', async () => {
    const { execute, lead, record } = await withClaim();
    await lead.submit(makeRequest());
    expect(await execute(() => startEndless().run)).toBeUndefined();
    expect(await record()).toMatchObject({ state: 'canceled', decision: null });
  });

  it('leaves an order to others when it has no more time to begin it', async () => {
    const { execute, record } = await withClaim();
    const settlement = await execute(() => startEndless().run, { signal: AbortSignal.abort() });
    expect(settlement).toBeUndefined();
    expect(await record()).toMatchObject({ state: 'claimed', started_at: null });
  });

  it('stops its worker when the order is replaced, and archives what it left', async () => {
    const { execute, lead, stateOf } = await withClaim();
    const { run, isCanceled } = startEndless();
    const settlement = await execute(async () => {
      await lead.submit(makeRequest());
      return run;
    });
    expect(isCanceled()).toBe(true);
    expect(settlement?.decision).toMatchObject({ action: 'archive', result_code: 'stale_run' });
    expect(await stateOf()).toBe('doing');
  });

  it('does not believe a worker that was stopped and still says ok and exits with 0', async () => {
    const { execute, report, submitted } = await withClaim();
    const error = { category: 'timeout', code: 'RUN_TIMED_OUT', message: 'too long' } as const;
    const settlement = await execute(async () => {
      await report(submitted, 'work_result.json', goodResult(submitted));
      return { result: Promise.resolve({ ...ENDED, status: 'failed', error }), cancel: () => undefined };
    });
    expect(settlement?.decision.action).toBe('needs-human');
  });

  it('tells of a worker that was stopped before it reported why, and where to look', async () => {
    const { execute, submitted } = await withClaim();
    const error = { category: 'timeout', code: 'RUN_TIMED_OUT', message: 'The run took longer than 30 s.' } as const;
    const result = Promise.resolve({ ...ENDED, status: 'failed' as const, error });
    const settlement = await execute(() => ({ result, cancel: () => undefined }));
    expect(settlement?.decision.reason).toMatch(
      /^The worker died before it left a result: its process was ended by SIGTERM after [\d.]+ s\. The run took longer than 30 s\.$/,
    );
    expect(settlement?.decision.next).toContain(`(runs/${submitted.run}/.audit in the data folder)`);
  });

  it('tells of a worker that was killed only what the system says', async () => {
    const { execute } = await withClaim();
    const error = { category: 'process', code: 'PROCESS_SIGNALED', message: 'The process was ended.' } as const;
    const ended = { exit_code: null, signal: 'SIGKILL', command: ['worker'], version: null };
    const result = Promise.resolve({ ...ENDED, process: ended, status: 'failed' as const, error });
    const settlement = await execute(() => ({ result, cancel: () => undefined }));
    expect(settlement?.decision.reason).toMatch(/its process was ended by SIGKILL after [\d.]+ s\.$/);
  });

  it('holds the order while it prepares, runs and settles', async () => {
    const { execute, store, record } = await withClaim();
    const { run } = startEndless();
    const done = execute(() => run);
    await expect.poll(async () => (await record())?.state).toBe('running');
    const first = (await record())?.lease_until ?? 0;
    await expect.poll(async () => (await record())?.lease_until ?? 0, { timeout: 5000 }).toBeGreaterThan(first);
    expect((await store.releaseExpired(Date.now(), { ...WORKER, worker_id: 'other' })).ghosts).toEqual([]);
    run.cancel();
    await done;
  });

  it('settles with the exit code it saw although the store was out of reach for a moment', async () => {
    const memory = openMemoryStore();
    let failures = 2;
    const store: Store = {
      ...memory,
      settleOrder: async (settlement) => {
        failures -= 1;
        if (failures >= 0) throw new StoreError('STORE_UNAVAILABLE', 'gone for a moment');
        return memory.settleOrder(settlement);
      },
    };
    const { execute, executions } = await withClaim({ store });
    await execute(() => ({ result: Promise.resolve(ENDED), cancel: () => undefined }));
    expect(await executions()).toMatchObject([{ exit_code: 0, decision: 'needs-human' }]);
  });

  it('does not say that a worker started which waits for other issues', async () => {
    const { execute, executions } = await withClaim({ request: { depends_on: ['acme/shop#1'] } });
    const settlement = await execute(() => startEndless().run);
    expect(settlement?.decision).toMatchObject({ action: 'blocked', result_code: 'dep_unresolved' });
    expect(await executions()).toMatchObject([{ started_at: null, duration_ms: null, command: [] }]);
  });

  it('asks a person when its run cannot be started at all', async () => {
    const { execute } = await withClaim();
    const settlement = await execute(() => {
      throw new TypeError('no such thing');
    });
    expect(settlement?.decision).toMatchObject({
      action: 'needs-human',
      result_code: 'env_unavailable',
      reason: expect.stringContaining('no such thing'),
    });
  });
});
