import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../../test/temporary-folder.js';
import { isPresent } from '../../../base/files/index.js';
import { openRun, getPackedRunPath } from '../../../runs/run-folder/index.js';
import { openSite } from '../../../store/contract/fixtures/open-site.js';
import { NOW } from '../../../store/contract/fixtures/order-samples.js';
import { createRunResult, sampleSpec } from '../../../store/contract/fixtures/run-samples.js';
import type { Store } from '../../../store/store.js';
import { createPacking } from './start-packing.js';

async function addRun(store: Store, data: string, id: string, endedAt: number | null) {
  await store.createRun({ id, spec: sampleSpec(), state: 'running', workerId: 'w', leaseMs: 1, now: NOW });
  if (endedAt !== null) await store.endRun({ id, workerId: 'w', result: createRunResult(), now: endedAt });
  await addFolder(data, id);
}

async function addFolder(data: string, id: string) {
  await mkdir(join(data, 'runs', id, '.audit'), { recursive: true });
  await writeFile(join(data, 'runs', id, '.audit', 'stdout.1.log'), 'x');
}

async function openPacking(options: { readonly now?: number } = {}) {
  const data = await makeFolder({});
  const store = await openSite('memory:');
  const warnings: unknown[] = [];
  const logger = { debug() {}, info() {}, warn: (...entry: unknown[]) => void warnings.push(entry), error() {} };
  let now = options.now ?? NOW + 100_000;
  const { job } = createPacking({ store, data, settings: { afterMs: 60_000 }, clock: () => now, logger });
  const packing = { sweep: async () => job.work(new AbortController().signal) };
  const advance = (ms: number) => void (now += ms);
  return { data, store, packing, warnings, advance };
}

describe('packing', () => {
  it('packs runs some time after their end, and no others', async () => {
    const { data, store, packing, advance } = await openPacking();
    await addRun(store, data, 'ended', NOW);
    await addRun(store, data, 'young', NOW + 50_000);
    await addRun(store, data, 'running', null);
    await addFolder(data, 'unknown');
    expect(await packing.sweep()).toBe(1);
    expect((await readdir(join(data, 'runs'))).toSorted()).toEqual(['running', 'unknown', 'young']);
    expect(await (await openRun(data, 'ended')).attempts()).toEqual([1]);
    advance(20_000);
    expect(await packing.sweep()).toBe(1);
    expect(await packing.sweep()).toBe(0);
  });

  it('cleans up after a killed process: a folder next to its packed file, and partial files', async () => {
    const { data, store, packing } = await openPacking();
    await addRun(store, data, 'ended', NOW);
    expect(await packing.sweep()).toBe(1);
    await addFolder(data, 'ended');
    const [oldFile, newFile] = ['old.tmp', 'young.tmp'].map((name) => join(data, 'packed', 'tmp', name));
    for (const path of [oldFile, newFile]) await writeFile(path ?? '', 'x');
    await utimes(oldFile ?? '', 0, 0);
    expect(await packing.sweep()).toBe(1);
    expect(await readdir(join(data, 'runs'))).toEqual([]);
    expect(await readdir(join(data, 'packed', 'tmp'))).toEqual(['young.tmp']);
  });

  it('keeps a folder that cannot be packed, warns once, and tries again an hour later', async () => {
    const { data, store, packing, warnings, advance } = await openPacking();
    await addRun(store, data, 'ended', NOW);
    const path = getPackedRunPath(data, 'ended');
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, 'damaged');
    expect([await packing.sweep(), await packing.sweep()]).toEqual([0, 0]);
    expect(warnings).toHaveLength(1);
    expect(await isPresent(join(data, 'runs', 'ended'))).toBe(true);
    advance(2 * 60 * 60 * 1000);
    await packing.sweep();
    expect(warnings).toHaveLength(2);
  });

  it('has nothing to do if no run has started', async () => {
    expect(await (await openPacking()).packing.sweep()).toBe(0);
  });
});
