import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../../test/temporary-folder.js';
import { isPresent } from '../../../base/files/index.js';
import { packRunFolder, getPackedRunPath } from '../../../runs/run-folder/index.js';
import { openSite } from '../../../store/contract/fixtures/open-site.js';
import { sampleItem, NOW, sampleSettlement, sampleSubmission } from '../../../store/contract/fixtures/order-samples.js';
import { sampleFcmp, createRunResult, sampleSpec } from '../../../store/contract/fixtures/run-samples.js';
import type { Store } from '../../../store/store.js';
import { createRetention } from './start-retention.js';
import type { RetentionSettings } from './start-retention.js';

const DAY = 86_400_000;
const { signal } = new AbortController();
const NOTHING = { runs: 0, records: 0, delivered: 0, results: 0, folders: 0 };

async function addRun(store: Store, data: string, id: string, endedAt: number | null, events = 3) {
  await store.createRun({ id, spec: sampleSpec(), state: 'running', workerId: 'w', leaseMs: 1, now: NOW });
  await store.append(
    id,
    Array.from({ length: events }, (_, index) => sampleFcmp(index + 1)),
  );
  if (endedAt !== null) await store.endRun({ id, workerId: 'w', result: createRunResult(), now: endedAt });
  await mkdir(join(data, 'runs', id, '.audit'), { recursive: true });
  await writeFile(join(data, 'runs', id, '.audit', 'stdout.1.log'), 'x');
}

async function openRetention(settings: RetentionSettings) {
  const data = await makeFolder({});
  const store = await openSite('memory:');
  const clock = { now: NOW + 10 * DAY };
  const retention = createRetention({ store, data, settings, clock: () => clock.now });
  const sweep = async () => ({ ...(await retention.sweepStore()), folders: await retention.removeFolders(signal) });
  const countEvents = async (runId: string) => (await store.read({ runId, protocol: 'fcmp', limit: 10_000 })).length;
  return { data, store, retention, clock, sweep, countEvents };
}

describe('retention', () => {
  it('deletes the folders and events of old runs and keeps their records', async () => {
    const { data, store, sweep, countEvents } = await openRetention({ runsMs: 5 * DAY });
    await addRun(store, data, 'old', NOW + DAY, 2500);
    await addRun(store, data, 'young', NOW + 8 * DAY);
    await addRun(store, data, 'running', null);
    expect(await sweep()).toEqual({ ...NOTHING, runs: 1, folders: 1 });
    expect(await sweep()).toEqual(NOTHING);
    expect((await readdir(join(data, 'runs'))).toSorted()).toEqual(['running', 'young']);
    expect([await countEvents('old'), await countEvents('young'), await countEvents('running')]).toEqual([0, 3, 3]);
    expect(await store.findRun('old')).toMatchObject({ state: 'ended', result: { status: 'success' } });
  });

  it('keeps open inbox items and their runs, however old', async () => {
    const { data, store, sweep, countEvents } = await openRetention({ runsMs: DAY });
    const { record } = await store.submitOrder({ ...sampleSubmission(), run: 'asked' });
    await store.append('asked', [sampleFcmp(1)]);
    await store.settleOrder(sampleSettlement(record, 'needs-human', { item: sampleItem(record) }));
    await mkdir(join(data, 'runs', 'asked'), { recursive: true });
    expect(await sweep()).toEqual(NOTHING);
    expect(await countEvents('asked')).toBe(1);
    expect(await readdir(join(data, 'runs'))).toEqual(['asked']);
  });

  it('does not touch unknown folders, and follows no link', async () => {
    const { data, store, sweep } = await openRetention({ runsMs: DAY });
    await addRun(store, data, 'old', NOW);
    await mkdir(join(data, 'runs', 'mine'), { recursive: true });
    const otherFolder = await makeFolder({ 'keep.txt': 'x' });
    await addRun(store, data, 'linked', NOW);
    await sweep();
    await symlink(otherFolder, join(data, 'runs', 'linked'));
    await sweep();
    expect((await readdir(join(data, 'runs'))).toSorted()).toEqual(['linked', 'mine']);
    expect(await readdir(otherFolder)).toEqual(['keep.txt']);
  });

  it('removes the folder of a run whose record another host has marked as purged', async () => {
    const { data, store, sweep } = await openRetention({ runsMs: 5 * DAY });
    await addRun(store, data, 'old', NOW + 6 * DAY);
    expect(await sweep()).toEqual(NOTHING);
    await store.purgeRuns({ endedBefore: NOW + 7 * DAY, runs: 9, rows: 100, now: NOW + 10 * DAY });
    expect(await sweep()).toMatchObject({ runs: 0, folders: 1 });
    expect(await sweep()).toEqual(NOTHING);
  });

  it('removes packed runs, including those that another host has marked as purged', async () => {
    const { data, store, sweep } = await openRetention({ runsMs: 5 * DAY });
    for (const id of ['old', 'marked', 'young']) {
      await addRun(store, data, id, id === 'young' ? NOW + 8 * DAY : NOW);
      await packRunFolder(data, id);
    }
    await store.purgeRuns({ endedBefore: NOW + 1, runs: 1, rows: 100, now: NOW });
    expect(await sweep()).toMatchObject({ runs: 1, folders: 2 });
    expect(await sweep()).toMatchObject({ runs: 0, folders: 0 });
    const kept = await Promise.all(['old', 'marked', 'young'].map(async (id) => isPresent(getPackedRunPath(data, id))));
    expect(kept).toEqual([false, false, true]);
  });

  it('removes the other runs if one cannot be removed, and tries again', async () => {
    const { data, store, retention } = await openRetention({ runsMs: DAY });
    for (const id of ['one', 'two', 'three']) await addRun(store, data, id, NOW);
    // A folder in place of the packed file cannot be removed as a file.
    const blocked = getPackedRunPath(data, 'two');
    await mkdir(blocked, { recursive: true });
    await retention.sweepStore();
    await expect(retention.removeFolders(signal)).rejects.toThrow(/EISDIR|EPERM/);
    expect(await readdir(join(data, 'runs'))).toEqual([]);
    await rm(blocked, { recursive: true });
    await writeFile(blocked, 'x');
    expect(await retention.removeFolders(signal)).toBe(1);
    expect(await isPresent(blocked)).toBe(false);
  });

  it('keeps everything if no age is set', async () => {
    const { data, store, sweep, countEvents } = await openRetention({});
    await addRun(store, data, 'old', NOW);
    expect(await sweep()).toEqual(NOTHING);
    expect(await countEvents('old')).toBe(3);
  });

  it('deletes old cached results', async () => {
    const { store, sweep } = await openRetention({ resultsMs: DAY });
    await store.cacheResult('k', { run_id: 'r', result: createRunResult(), cached_at: new Date(NOW).toISOString() });
    expect(await sweep()).toMatchObject({ results: 1 });
  });

  it('deletes records only if an age is set for them, a day after their events', async () => {
    const { data, store, sweep, clock } = await openRetention({ runsMs: 2 * DAY, recordsMs: 5 * DAY });
    await addRun(store, data, 'old', NOW + DAY);
    await addRun(store, data, 'young', NOW + 7 * DAY);
    expect(await sweep()).toMatchObject({ runs: 2, records: 0, folders: 2 });
    // A run that is not counted in the statistics yet is kept.
    await store.countEndedRuns(10);
    clock.now += DAY + 1;
    expect(await sweep()).toEqual({ ...NOTHING, records: 1 });
    expect([await store.findRun('old'), await store.findRun('young')]).toMatchObject([undefined, { id: 'young' }]);
    clock.now += 5 * DAY;
    expect(await sweep()).toMatchObject({ records: 1 });
  });

  it('keeps up with 20 runs a second', async () => {
    const { store, sweep } = await openRetention({ runsMs: DAY });
    for (let index = 0; index < 1200; index += 1) {
      await store.createRun({ id: `r${index}`, spec: sampleSpec(), state: 'running', workerId: 'w', now: NOW });
      await store.endRun({ id: `r${index}`, workerId: 'w', result: createRunResult(), now: NOW });
    }
    expect(await sweep()).toMatchObject({ runs: 1200 });
  });

  it('reads neither folders nor rows when nothing is due', async () => {
    const { store, retention } = await openRetention({ runsMs: DAY });
    await retention.removeFolders(signal);
    const queries: string[] = [];
    const watched = new Proxy(store, {
      get(target, name: keyof typeof store) {
        queries.push(name);
        return target[name];
      },
    });
    const missing = join(await makeFolder({}), 'missing');
    const second = createRetention({ store: watched, data: missing, settings: { runsMs: DAY } });
    await second.removeFolders(signal);
    queries.length = 0;
    await second.removeFolders(signal);
    expect(queries).toEqual(['listPurgedRuns']);
  });

  it('has no job if everything is kept', async () => {
    expect((await openRetention({})).retention.storeJob).toBeUndefined();
    expect((await openRetention({ resultsMs: 1 })).retention.storeJob).toMatchObject({ name: 'retention' });
  });
});
