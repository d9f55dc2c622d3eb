import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { RUN_LOGS } from '../../runs/run-folder/index.js';
import { createServer } from '../../server/create-server.js';
import { listen } from '../../server/run-server.js';
import { connect, openRemotePorts } from '../../server/worker/index.js';
import type { Connection } from '../../server/worker/connection.js';
import { openStore } from '../../store/open-store.js';
import { StoreError } from '../../store/store-error.js';
import type { Store } from '../../store/store.js';
import { claimRuns } from './claim-runs.js';
import { setUpWorker } from './fixtures/set-up-worker.js';
import { startMaintenance } from './start-maintenance.js';
import { startReaper } from './start-worker.js';

/** `before`: the call fails. `after`: it takes effect, but its response is lost. */
type Fault = 'before' | 'after';

/** The calls that reach the database; the others only watch, or read a clock. */
const LOCAL = new Set(['now', 'watch', 'watchQueue', 'watchRequests', 'close']);

/** How the worker reaches the store. */
type Route = 'database' | 'https';

interface Outage {
  readonly route: Route;
  readonly fault: Fault;
  readonly length: number;
}

/** Creates a store, or a connection to a server, where one call fails, and the `length` calls after it. */
function breakCalls<T extends Store | Connection>(target: T, at: number, { fault, length }: Outage) {
  let calls = 0;
  const isConnection = 'send' in target;
  const broken = new Proxy(target, {
    get(_, name) {
      const method = target[name as keyof T] as unknown;
      const isLocal = isConnection ? name !== 'send' : LOCAL.has(String(name));
      if (typeof method !== 'function' || isLocal) return method;
      return async (...values: unknown[]) => {
        const call = calls;
        calls += 1;
        const isDown = call >= at && call < at + length;
        if (isDown && fault === 'before') throw createOutageError();
        const answer: unknown = await Reflect.apply(method, target, values);
        if (isDown) throw createOutageError();
        return answer;
      };
    },
  });
  return { broken, countCalls: () => calls };
}

/** Starts a worker with the store, or one that reaches it through a server. The broken calls are the worker's. */
async function startBroken(
  { store, lead, data, start }: Awaited<ReturnType<typeof setUpWorker>>,
  broken: Store,
  at: number,
  outage: Outage,
) {
  // The server does not know that the worker is in its own process, so a lease that expires under load is a lost worker.
  const leaseMs = outage.route === 'database' ? 400 : 10_000;
  const limits = { leaseMs, pollMs: 50, reconcileMs: 100 };
  if (outage.route === 'database') {
    const worker = start({ store: broken, ...limits });
    return { stop: async () => worker.stop(), countCalls: undefined };
  }
  const token = 'a-worker-token-with-32-characters';
  const server = createServer({
    store,
    lead,
    data,
    wrappers: {},
    settings: { roots: [data], tokens: [{ name: 'fleet', scopes: ['worker'], value: token }] },
    work: { leaseMs: limits.leaseMs },
  });
  const listening = await listen(server, { host: '127.0.0.1', port: 0 });
  const duties = [
    startReaper({ store, lead, data, everyMs: limits.reconcileMs }),
    startMaintenance({ store, data, lead, settings: {} }),
  ];
  onTestFinished(async () => {
    server.end();
    await Promise.all([listening.close(0), ...duties.map(async (duty) => duty.stop())]);
  });
  const { broken: connection, countCalls } = breakCalls(connect({ url: listening.url, token }), at, outage);
  const own = await makeFolder({});
  const self = { host: 'elsewhere', version: '0.0.0', engines: [] };
  // A worker that cannot connect exits, and is started again.
  const open = async (): ReturnType<typeof openRemotePorts> =>
    openRemotePorts({ connection, data: own, filters: {}, token }, self).catch(open);
  const remote = await open();
  const worker = claimRuns({ ...remote, runs: { data: own }, ...limits });
  onTestFinished(async () => worker.stop({ graceMs: 0 }));
  return { stop: async () => worker.stop(), countCalls };
}

function createOutageError(): StoreError {
  return new StoreError('STORE_UNAVAILABLE', 'The database does not answer.');
}

/** Several leases of a worker over HTTPS, on a busy host. */
const WAIT_MS = 120_000;

/** Executes one order and one plain run from the queue to their ends while the store fails at one call. */
async function workWithFault(at: number, outage: Outage) {
  const isRemote = outage.route === 'https';
  const memory = await openStore('memory:');
  const { broken, countCalls } = breakCalls(memory, isRemote ? Number.POSITIVE_INFINITY : at, outage);
  const site = await setUpWorker({ store: memory, lead: { store: broken } });
  const { submit, data, effects } = site;
  const spec = { engine: 'command', command: [process.execPath, '-e', 'console.log(42)'], workdir: data } as const;
  // The caller submits: it gets the error and sends the request again.
  await memory.createRun({ id: 'RUN1', spec, state: 'queued', now: Date.now() });
  const request = async (tries = 20): ReturnType<typeof submit> =>
    submit('local#1', { result: 'ok', print: 'done' }, { request_id: 'r1' }).catch((error: unknown) => {
      if (tries === 0) throw error;
      return request(tries - 1);
    });
  const { run } = await request();
  const worker = await startBroken(site, broken, at, outage);
  await expect
    .poll(async () => (await memory.listRuns({})).items.map(({ state }) => state), { timeout: WAIT_MS })
    .toEqual(['ended', 'ended']);
  await expect
    .poll(async () => (await memory.listOutbox({})).items.map(({ state }) => state), { timeout: WAIT_MS })
    .toEqual(['delivered']);
  await worker.stop();
  const [order] = (await memory.listOrders({})).items;
  const isComplete = isRemote ? hasAllBytes : hasAllEvents;
  return {
    calls: (worker.countCalls ?? countCalls)(),
    outcome: {
      order: order?.decision?.action,
      starts: (await effects()).length,
      executions: (await memory.listExecutions({})).items.length,
      results: await Promise.all([run, 'RUN1'].map(async (id) => (await memory.findRun(id))?.result?.status)),
      comments: (await memory.listOutbox({})).items.map(({ state }) => state),
      isLogComplete: await Promise.all([run, 'RUN1'].map(async (id) => isComplete(memory, data, id))),
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

/** Whether the server has all events of a run, and its output; the worker has deleted its folder. */
async function hasAllBytes(store: Store, data: string, id: string): Promise<boolean> {
  const events = (await store.read({ runId: id, protocol: 'fcmp', limit: 1000 })).map(({ event }) => event);
  const output = await readFile(join(data, 'runs', id, '.audit/stdout.1.log'), 'utf8').catch(() => '');
  const isNumbered = events.every(({ seq }, index) => seq === index + 1);
  const last = events.at(-1);
  return (
    isNumbered &&
    last !== undefined &&
    'type' in last &&
    last.type === 'conversation.completed' &&
    /^(42|done)\n$/.test(output)
  );
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
  it.each<Outage>([
    { route: 'database', fault: 'before', length: 1 },
    { route: 'database', fault: 'after', length: 1 },
    { route: 'database', fault: 'before', length: 12 },
    { route: 'https', fault: 'before', length: 1 },
    { route: 'https', fault: 'after', length: 1 },
    { route: 'https', fault: 'before', length: 3 },
  ])('wherever $length calls of a worker ($route) fail ($fault)', async (outage) => {
    const { calls, outcome } = await workWithFault(Number.POSITIVE_INFINITY, outage);
    expect(outcome).toEqual(EXPECTED_OUTCOME);
    // Over HTTPS, a lost response can cost a lease.
    const step = outage.route === 'https' ? 2 * STEP : STEP;
    const places = Array.from({ length: Math.ceil(calls / step) }, (_, index) => index * step);
    while (places.length > 0) {
      const batch = places.splice(0, CONCURRENCY);
      const outcomes = await Promise.all(batch.map(async (at) => [at, (await workWithFault(at, outage)).outcome]));
      expect(outcomes).toEqual(batch.map((at) => [at, EXPECTED_OUTCOME]));
    }
  });
});
