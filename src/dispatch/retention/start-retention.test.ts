import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { isPresent } from '../../files/index.js';
import { packRunFolder, packedRunPath } from '../../run-folder/index.js';
import { openSite } from '../../store/contract/fixtures/open-site.js';
import { sampleItem, NOW, sampleSettlement, sampleSubmission } from '../../store/contract/fixtures/order-samples.js';
import { sampleFcmp, createRunResult, sampleSpec } from '../../store/contract/fixtures/run-samples.js';
import type { Store } from '../../store/store.js';
import { startRetention } from './start-retention.js';
import type { RetentionSettings } from './start-retention.js';

const DAY = 86_400_000;

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
  const retention = startRetention({ store, data, settings, clock: () => NOW + 10 * DAY });
  onTestFinished(async () => retention.stop());
  const countEvents = async (runId: string) => (await store.read({ runId, protocol: 'fcmp', limit: 10_000 })).length;
  return { data, store, retention, countEvents };
}

describe('retention', () => {
  it('deletes the folders and events of old runs and keeps their records', async () => {
    const { data, store, retention, countEvents } = await openRetention({ runsMs: 5 * DAY });
    await addRun(store, data, 'old', NOW + DAY, 2500);
    await addRun(store, data, 'young', NOW + 8 * DAY);
    await addRun(store, data, 'running', null);
    expect(await retention.sweep()).toEqual({ runs: 1, folders: 1, delivered: 0, results: 0 });
    expect(await retention.sweep()).toEqual({ runs: 0, folders: 0, delivered: 0, results: 0 });
    expect((await readdir(join(data, 'runs'))).toSorted()).toEqual(['running', 'young']);
    expect([await countEvents('old'), await countEvents('young'), await countEvents('running')]).toEqual([0, 3, 3]);
    expect(await store.findRun('old')).toMatchObject({ state: 'ended', result: { status: 'success' } });
  });

  it('leaves open inbox items and their runs alone, however old', async () => {
    const { data, store, retention, countEvents } = await openRetention({ runsMs: DAY });
    const { record } = await store.submitOrder({ ...sampleSubmission(), run: 'asked' });
    await store.append('asked', [sampleFcmp(1)]);
    await store.settleOrder(sampleSettlement(record, 'needs-human', { item: sampleItem(record) }));
    await mkdir(join(data, 'runs', 'asked'), { recursive: true });
    expect(await retention.sweep()).toEqual({ runs: 0, folders: 0, delivered: 0, results: 0 });
    expect(await countEvents('asked')).toBe(1);
    expect(await readdir(join(data, 'runs'))).toEqual(['asked']);
  });

  it('leaves folders alone that the store does not know, and follows no link', async () => {
    const { data, store, retention } = await openRetention({ runsMs: DAY });
    await addRun(store, data, 'old', NOW);
    await mkdir(join(data, 'runs', 'mine'), { recursive: true });
    const elsewhere = await makeFolder({ 'keep.txt': 'x' });
    await addRun(store, data, 'linked', NOW);
    await retention.sweep();
    await symlink(elsewhere, join(data, 'runs', 'linked'));
    await retention.sweep();
    expect((await readdir(join(data, 'runs'))).toSorted()).toEqual(['linked', 'mine']);
    expect(await readdir(elsewhere)).toEqual(['keep.txt']);
  });

  it('removes the folder of a run whose record another machine has marked as forgotten', async () => {
    const { data, store, retention } = await openRetention({ runsMs: 5 * DAY });
    await addRun(store, data, 'old', NOW);
    await store.forgetEvents({ id: 'old', limit: 100, now: NOW });
    expect(await retention.sweep()).toMatchObject({ runs: 0, folders: 1 });
  });

  it('removes packed runs, also those that another machine has marked as forgotten', async () => {
    const { data, store, retention } = await openRetention({ runsMs: 5 * DAY });
    for (const id of ['old', 'marked', 'young']) {
      await addRun(store, data, id, id === 'young' ? NOW + 8 * DAY : NOW);
      await packRunFolder(data, id);
    }
    await store.forgetEvents({ id: 'marked', limit: 100, now: NOW });
    expect(await retention.sweep()).toMatchObject({ runs: 1, folders: 2 });
    expect(await retention.sweep()).toMatchObject({ runs: 0, folders: 0 });
    const kept = await Promise.all(['old', 'marked', 'young'].map(async (id) => isPresent(packedRunPath(data, id))));
    expect(kept).toEqual([false, false, true]);
  });

  it('keeps everything where no age is set', async () => {
    const { data, store, retention, countEvents } = await openRetention({});
    await addRun(store, data, 'old', NOW);
    expect(await retention.sweep()).toEqual({ runs: 0, folders: 0, delivered: 0, results: 0 });
    expect(await countEvents('old')).toBe(3);
  });

  it('deletes old cached results', async () => {
    const { store, retention } = await openRetention({ resultsMs: DAY });
    await store.keep('k', { run_id: 'r', result: createRunResult(), kept_at: new Date(NOW).toISOString() });
    expect(await retention.sweep()).toMatchObject({ results: 1 });
  });
});
