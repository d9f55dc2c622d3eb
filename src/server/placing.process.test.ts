import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../test/temporary-folder.js';
import { executeClaim } from '../orders/dispatch/index.js';
import { createLead } from '../orders/index.js';
import { createMemoryPlacement, type MemoryPlaces } from '../orders/placement/contract/fixtures/memory-placement.js';
import type { PlacedRun, Placement } from '../orders/placement/index.js';
import { openS3Server } from '../runs/archive/fixtures/open-s3-server.js';
import type { Archive } from '../runs/archive/index.js';
import type { RunSpec } from '../store/records/index.js';
import { openStore } from '../store/index.js';
import { runServer } from './run-server.js';
import { connect } from './worker/connection.js';
import { openRemotePorts } from './worker/remote-store.js';

const TOKENS = [{ name: 'fleet', scopes: ['worker'], value: 'a-worker-token-with-32-characters' }] as const;
const AGENT = fileURLToPath(new URL('./worker/fixtures/session-agent.mjs', import.meta.url));
const KEEPER = {
  command: [process.execPath, AGENT],
  resume: [process.execPath, AGENT, '{session}'],
  format: 'claude',
  keeps: ['~/.keeper'],
} as const;
const SELF = { host: 'pod', version: '0.0.0', engines: [] };

/** Two servers on one store, which place runs in this process; each place is a worker for one run. */
async function openSite({ workersPerPlace = 1, archive }: { workersPerPlace?: number; archive?: Archive } = {}) {
  const folder = await realpath(await makeFolder({ 'work/.keep': '', 'data/.keep': '' }));
  const database = `sqlite:${join(folder, 'sluice.db')}`;
  const places: MemoryPlaces = new Map();
  const executed: string[] = [];
  const refused: string[] = [];
  const work = async ({ id, server, token }: PlacedRun): Promise<void> => {
    const data = await makeFolder({});
    const remote = await openRemotePorts(
      { connection: connect({ url: server, token }), data, filters: {}, token },
      SELF,
    );
    try {
      const claimed = await remote.claimPlaced(id);
      executed.push(id);
      const { signal } = new AbortController();
      const environment = { ...process.env, HOME: join(data, 'home') };
      const runs = { data, environment, agents: remote.settings.agents };
      await executeClaim({ ...remote, runs }, claimed, { workerId: '', signal });
    } catch {
      refused.push(id);
    } finally {
      remote.close();
      const place = places.get(`place-${id}`);
      if (place !== undefined) place.report = { state: 'gone' };
    }
  };
  const openPlacement = (): Placement => {
    const inner = createMemoryPlacement(places);
    return {
      ...inner,
      async place(run, signal) {
        const isNew = !places.has(`place-${run.id}`);
        const handle = await inner.place(run, signal);
        if (isNew) for (let number = 0; number < workersPerPlace; number += 1) void work(run);
        return handle;
      },
    };
  };
  const stores = [await openStore(database), await openStore(database)] as const;
  for (const store of stores) {
    const lead = createLead({ store, data: join(folder, 'data') });
    const running = await runServer({
      store,
      lead,
      data: join(folder, 'data'),
      archive,
      settings: { tokens: TOKENS, roots: [join(folder, 'work')], agents: { keeper: KEEPER } },
      work: { leaseMs: 3000 },
      port: 0,
      placing: { placements: [openPlacement()] },
    });
    onTestFinished(async () => {
      await running.stop({ graceMs: 0 });
      await store.close();
    });
  }
  const add = async (id: string, changes: Partial<RunSpec> = {}) => {
    const plain = { engine: 'command', command: ['/bin/sh', '-c', 'echo placed'] };
    const spec = { ...(changes.engine === undefined ? plain : {}), workdir: join(folder, 'work') } as RunSpec;
    await stores[0].createRun({
      id,
      spec: { ...spec, placement: 'kubernetes', image: 'a', ...changes },
      state: 'queued',
      now: 1,
    });
    return id;
  };
  return { store: stores[0], places, executed, refused, add };
}

describe('two servers that place runs', () => {
  it('have each run executed once, in its place, and remove the places', async () => {
    const { store, places, executed, add } = await openSite();
    const ids = await Promise.all(Array.from({ length: 6 }, async (_, index) => add(`run-${index}`)));
    const findStates = async () => Promise.all(ids.map(async (id) => (await store.findRun(id))?.state));
    await expect.poll(findStates).toEqual(ids.map(() => 'ended'));
    const ended = await store.findRun('run-0');
    expect(ended?.result).toMatchObject({ status: 'success', text: 'placed' });
    expect(ended?.spec).toMatchObject({ placement: 'kubernetes', image: 'a' });
    expect(executed.toSorted((one, other) => one.localeCompare(other))).toEqual(ids);
    await expect.poll(async () => [places.size, await store.listPlaced()]).toEqual([0, []]);
  });

  it('refuse a second worker with the same token', async () => {
    const { store, executed, refused, add } = await openSite({ workersPerPlace: 2 });
    const id = await add('run-1');
    await expect.poll(async () => (await store.findRun(id))?.state).toBe('ended');
    await expect.poll(() => refused).toEqual([id]);
    expect(executed).toEqual([id]);
  });

  it('let a run that waits for an answer leave its place, and place it again with the answer', async () => {
    const archive = await (await openS3Server()).open();
    const { store, places, executed, add } = await openSite({ archive });
    const id = await add('run-1', { engine: 'keeper', prompt: 'Begin.', mode: 'interactive', limits: { hold_s: 0.2 } });
    const find = async () => store.findRun(id);
    await expect.poll(async () => (await find())?.owner?.worker_id).toMatch(/^parked:/);
    await expect.poll(() => places.size).toBe(0);
    expect(await find()).toMatchObject({ state: 'waiting', result: null });
    expect(await store.postReply(id, 'The first.')).toBe('posted');
    await expect.poll(async () => (await find())?.state).toBe('ended');
    expect((await find())?.result?.text).toContain('"prompts":["Begin.","The first."]');
    expect(executed).toEqual([id, id]);
    await expect.poll(async () => [places.size, await store.listPlaced()]).toEqual([0, []]);
  });

  it('end a waiting run without a place when it is canceled', async () => {
    const archive = await (await openS3Server()).open();
    const { store, executed, add } = await openSite({ archive });
    const id = await add('run-1', { engine: 'keeper', prompt: 'Begin.', mode: 'interactive', limits: { hold_s: 0.2 } });
    await expect.poll(async () => (await store.findRun(id))?.owner?.worker_id).toMatch(/^parked:/);
    await store.requestCancel(id, store.now());
    await expect.poll(async () => (await store.findRun(id))?.result?.status).toBe('canceled');
    expect(executed).toEqual([id]);
  });
});
