import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../test/temporary-folder.js';
import { executeClaim } from '../orders/dispatch/index.js';
import { createLead } from '../orders/index.js';
import { createMemoryPlacement, type MemoryPlaces } from '../orders/placement/contract/fixtures/memory-placement.js';
import type { PlacedRun, Placement } from '../orders/placement/index.js';
import { openStore } from '../store/index.js';
import { runServer } from './run-server.js';
import { connect } from './worker/connection.js';
import { openRemotePorts } from './worker/remote-store.js';

const TOKENS = [{ name: 'fleet', scopes: ['worker'], value: 'a-worker-token-with-32-characters' }] as const;
const SELF = { host: 'pod', version: '0.0.0', engines: [] };

/** Two servers on one store, which place runs in this process; each place is a worker for one run. */
async function openSite(workersPerPlace = 1) {
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
      await executeClaim({ ...remote, runs: { data } }, claimed, { workerId: '', signal });
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
      settings: { tokens: TOKENS, roots: [join(folder, 'work')] },
      work: { leaseMs: 3000 },
      port: 0,
      placing: { placements: [openPlacement()] },
    });
    onTestFinished(async () => {
      await running.stop({ graceMs: 0 });
      await store.close();
    });
  }
  const add = async (id: string) => {
    const spec = { engine: 'command', command: ['/bin/sh', '-c', 'echo placed'], workdir: join(folder, 'work') };
    await stores[0].createRun({ id, spec: { ...spec, placement: 'kubernetes', image: 'a' }, state: 'queued', now: 1 });
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
    const { store, executed, refused, add } = await openSite(2);
    const id = await add('run-1');
    await expect.poll(async () => (await store.findRun(id))?.state).toBe('ended');
    await expect.poll(() => refused).toEqual([id]);
    expect(executed).toEqual([id]);
  });
});
