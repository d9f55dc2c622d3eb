import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RUN_LOGS } from '../../runs/run-folder/index.js';
import { openStore } from '../../store/open-store.js';
import { StoreError } from '../../store/store-error.js';
import type { Store } from '../../store/store.js';
import { setUpWorker } from './fixtures/set-up-worker.js';

/** `before`: the call fails. `after`: it takes effect, but its response is lost. */
type Fault = 'before' | 'after';

/** The calls that reach the database; the others only watch, or read a clock. */
const LOCAL = new Set(['now', 'watch', 'watchQueue', 'watchRequests', 'close']);

/** Creates a store where one call fails, and the `length` calls after it. */
function breakStore(store: Store, at: number, { fault, length }: { fault: Fault; length: number }) {
  let calls = 0;
  const broken = new Proxy(store, {
    get(target, name: keyof Store) {
      const method = target[name] as (...values: unknown[]) => unknown;
      if (typeof method !== 'function' || LOCAL.has(name)) return method;
      return async (...values: unknown[]) => {
        const call = calls;
        calls += 1;
        const isDown = call >= at && call < at + length;
        if (isDown && fault === 'before') throw createOutageError();
        const answer = await method.apply(target, values);
        if (isDown) throw createOutageError();
        return answer;
      };
    },
  });
  return { broken, countCalls: () => calls };
}

function createOutageError(): StoreError {
  return new StoreError('STORE_UNAVAILABLE', 'The database does not answer.');
}

/** Executes one order and one plain run from the queue to their ends while the store fails at one call. */
async function workWithFault(at: number, kind: { fault: Fault; length: number }) {
  const memory = await openStore('memory:');
  const { broken, countCalls } = breakStore(memory, at, kind);
  const { start, submit, data, effects } = await setUpWorker({ store: memory, lead: { store: broken } });
  const spec = { engine: 'command', command: [process.execPath, '-e', 'console.log(42)'], workdir: data } as const;
  // The caller submits: it gets the error and sends the request again.
  await memory.createRun({ id: 'RUN1', spec, state: 'queued', now: Date.now() });
  const request = async (tries = 20): ReturnType<typeof submit> =>
    submit('local#1', { result: 'ok', print: 'done' }, { request_id: 'r1' }).catch((error: unknown) => {
      if (tries === 0) throw error;
      return request(tries - 1);
    });
  const { run } = await request();
  const worker = start({ store: broken, leaseMs: 400, pollMs: 50, reconcileMs: 100 });
  await expect
    .poll(async () => (await memory.listRuns({})).items.map(({ state }) => state), { timeout: 30_000 })
    .toEqual(['ended', 'ended']);
  await expect
    .poll(async () => (await memory.listOutbox({})).items.map(({ state }) => state), { timeout: 30_000 })
    .toEqual(['delivered']);
  await worker.stop();
  const [order] = (await memory.listOrders({})).items;
  return {
    calls: countCalls(),
    outcome: {
      order: order?.decision?.action,
      starts: (await effects()).length,
      executions: (await memory.listExecutions({})).items.length,
      results: await Promise.all([run, 'RUN1'].map(async (id) => (await memory.findRun(id))?.result?.status)),
      comments: (await memory.listOutbox({})).items.map(({ state }) => state),
      isLogComplete: await Promise.all([run, 'RUN1'].map(async (id) => hasAllEvents(memory, data, id))),
    },
  };
}

/** Whether the store has every event that the run folder has. */
async function hasAllEvents(store: Store, data: string, id: string): Promise<boolean> {
  const stored = await store.read({ runId: id, protocol: 'fcmp', limit: 1000 });
  const text = await readFile(join(data, 'runs', id, '.audit', RUN_LOGS.fcmp), 'utf8');
  const lines = text.trim().split('\n');
  return stored.length > 0 && JSON.stringify(stored.map(({ event }) => event)) === `[${lines.join(',')}]`;
}

const EXPECTED_OUTCOME = {
  order: 'advance',
  starts: 2,
  executions: 1,
  results: ['success', 'success'],
  comments: ['delivered'],
  isLogComplete: [true, true],
};

/** Every call with OUTAGE_STEP=1; otherwise a sample. */
const STEP = Number(process.env['OUTAGE_STEP'] ?? 6);
const CONCURRENCY = 6;

describe('a brief store outage only delays the work', { timeout: 300_000 }, () => {
  it.each<{ fault: Fault; length: number }>([
    { fault: 'before', length: 1 },
    { fault: 'after', length: 1 },
    { fault: 'before', length: 12 },
  ])('wherever $length calls fail ($fault)', async (kind) => {
    const { calls, outcome } = await workWithFault(Number.POSITIVE_INFINITY, kind);
    expect(outcome).toEqual(EXPECTED_OUTCOME);
    const places = Array.from({ length: Math.ceil(calls / STEP) }, (_, index) => index * STEP);
    while (places.length > 0) {
      const batch = places.splice(0, CONCURRENCY);
      const outcomes = await Promise.all(batch.map(async (at) => [at, (await workWithFault(at, kind)).outcome]));
      expect(outcomes).toEqual(batch.map((at) => [at, EXPECTED_OUTCOME]));
    }
  });
});
