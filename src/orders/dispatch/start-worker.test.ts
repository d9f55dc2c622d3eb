import { hostname } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../store/store.js';
import { identifyOwnProcess } from '../../runs/process/process-identity.js';
import { setUpWorker } from './fixtures/set-up-worker.js';
import { startReaper, type ReaperOptions } from './start-worker.js';

/** Counts the store calls that reconciliation makes. */
function countCalls(store: Store) {
  const calls = { fleet: 0, host: 0 };
  const countingStore: Store = {
    ...store,
    async hasExpiredRuns(now, host) {
      calls[host === undefined ? 'fleet' : 'host'] += 1;
      return store.hasExpiredRuns(now, host);
    },
  };
  return { countingStore, calls };
}

/** Adds a run that was started by a worker on the given host and whose lease has expired. */
async function addExpiredRun(store: Store, data: string, host: string): Promise<void> {
  const spec = { engine: 'command', command: ['true'], workdir: data } as const;
  await store.createRun({ id: 'RUN1', spec, state: 'queued', now: 0 });
  // A process of this boot and PID namespace that has ended: process 1 started at another tick.
  const { started } = await identifyOwnProcess();
  const worker = { worker_id: 'w1', host, pid: 1, pid_started: `${started}0` };
  await store.claimRun({ worker, leaseMs: 1, now: 0 });
  await store.markStarted({ id: 'RUN1', workerId: 'w1', now: 0 });
}

function start(options: ReaperOptions) {
  const reaper = startReaper({ everyMs: 30, ...options });
  onTestFinished(async () => reaper.stop());
  return reaper;
}

const GONE = { status: 'failed', error: { code: 'WORKER_GONE' } };

describe('a reaper', () => {
  it("ends a dead worker's runs even if no other worker is left", async () => {
    const { store, lead, data } = await setUpWorker();
    await addExpiredRun(store, data, 'another-host');
    start({ store, lead, data });
    await expect.poll(async () => (await store.findRun('RUN1'))?.result).toMatchObject(GONE);
  });

  it("ends this host's runs when notified, and otherwise does not query them", async () => {
    const { store, lead, data } = await setUpWorker();
    await addExpiredRun(store, data, hostname());
    const { countingStore, calls } = countCalls(store);
    const reaper = start({ store: countingStore, lead, data, isNotified: true });
    await expect.poll(() => calls.fleet).toBeGreaterThan(1);
    expect((await store.findRun('RUN1'))?.state).toBe('running');
    expect(calls.host).toBe(0);
    reaper.reconcileNow();
    await expect.poll(async () => (await store.findRun('RUN1'))?.result).toMatchObject(GONE);
    expect(calls.host).toBe(0);
  });

  it('reconciles other hosts in one process at a time, and its own host in each', async () => {
    const { store, lead, data } = await setUpWorker();
    const reapers = [1, 2, 3].map(() => countCalls(store));
    for (const { countingStore } of reapers) start({ store: countingStore, lead, data });
    await expect.poll(() => reapers.map(({ calls }) => calls.host > 2)).toEqual([true, true, true]);
    await expect.poll(() => Math.max(...reapers.map(({ calls }) => calls.fleet))).toBeGreaterThan(2);
    expect(reapers.filter(({ calls }) => calls.fleet > 0)).toHaveLength(1);
  });
});
