import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../../test/temporary-folder.js';
import { openS3Server } from '../../../runs/archive/fixtures/open-s3-server.js';
import type { S3Server } from '../../../runs/archive/fixtures/open-s3-server.js';
import { isPresent } from '../../../base/files/index.js';
import { packRunFolder, getPackedRunPath } from '../../../runs/run-folder/index.js';
import { openSite } from '../../../store/contract/fixtures/open-site.js';
import { NOW } from '../../../store/contract/fixtures/order-samples.js';
import { createRunResult, sampleSpec } from '../../../store/contract/fixtures/run-samples.js';
import type { Store } from '../../../store/store.js';
import { createArchiveJob } from '../retention/start-retention.js';
import { createPacking } from './start-packing.js';

interface Site {
  readonly data: string;
  readonly work: string;
  readonly store: Store;
  readonly s3: S3Server;
  readonly warnings: string[];
  /** Packs and uploads what is due, with a new process each time. */
  sweep(address?: string): Promise<void>;
  advance(ms: number): void;
}

async function openUploads(): Promise<Site> {
  const s3 = await openS3Server();
  const data = await makeFolder({});
  const work = await makeFolder({ 'made.txt': 'made', 'later.txt': 'x' });
  const store = await openSite('memory:');
  const warnings: string[] = [];
  const logger = { debug() {}, info() {}, warn: (text: string) => void warnings.push(text), error() {} };
  let now = Date.now() + 100_000;
  const sweep = async (address = 's3://runs/a'): Promise<void> => {
    const archive = await s3.open({ address, retry: { maxAttempts: 1, firstPauseMs: 1 } });
    const packing = createPacking({ store, data, archive, settings: { afterMs: 0 }, clock: () => now, logger });
    await packing.job.work(new AbortController().signal);
    await packing.finish();
  };
  return { data, work, store, s3, warnings, sweep, advance: (ms) => void (now += ms) };
}

async function addRun({ store, data, work }: Site, id: string, text = 'x'): Promise<void> {
  const spec = sampleSpec({ workdir: work });
  await store.createRun({ id, spec, state: 'running', workerId: 'w', leaseMs: 1, now: NOW });
  const artifacts = { created: ['made.txt', '../escape.txt'], modified: ['later.txt', 'gone.txt'], deleted: [] };
  await store.endRun({ id, workerId: 'w', result: createRunResult({ artifacts }), now: Date.now() });
  await mkdir(join(data, 'runs', id, '.audit'), { recursive: true });
  await writeFile(join(data, 'runs', id, '.audit', 'stdout.1.log'), text);
}

const listWaiting = async ({ data }: Site): Promise<string[]> => readdir(join(data, 'packed', 'upload'));

async function readArchived({ s3 }: Site, id: string, address = 's3://runs/a'): Promise<string[] | undefined> {
  const folder = await (await s3.open({ address })).openRun(id);
  if (folder === undefined) return undefined;
  const paths: string[] = [];
  for await (const { path } of folder.files()) paths.push(path);
  return paths;
}

describe('a packed run', () => {
  it('is uploaded with the files it changed, and stays on this host', async () => {
    const site = await openUploads();
    await addRun(site, 'one');
    await site.sweep();
    expect(await readArchived(site, 'one')).toEqual([
      '.audit/stdout.1.log',
      '.artifacts/made.txt',
      '.artifacts/later.txt',
    ]);
    expect(await listWaiting(site)).toEqual([]);
    expect(await isPresent(getPackedRunPath(site.data, 'one'))).toBe(true);
    expect(site.warnings).toEqual([]);
  });

  it('is removed locally once it is in the archive, if so configured', async () => {
    const site = await openUploads();
    await addRun(site, 'one');
    await site.sweep('s3://runs/a?keep_local=false');
    expect(await isPresent(getPackedRunPath(site.data, 'one'))).toBe(false);
    expect(await readArchived(site, 'one')).toBeDefined();
  });

  it.each(['disconnect', 'unavailable', 'corrupt'] as const)(
    'waits on this host while the archive fails (%s), and is uploaded later',
    async (fault) => {
      const site = await openUploads();
      await addRun(site, 'one');
      site.s3.fault = ({ method }) => (method === 'PUT' ? fault : undefined);
      await site.sweep('s3://runs/a?keep_local=false');
      expect(await listWaiting(site)).toEqual(['one.json']);
      expect(await isPresent(getPackedRunPath(site.data, 'one'))).toBe(true);
      expect(site.warnings).toHaveLength(1);
      site.s3.fault = () => undefined;
      await site.sweep('s3://runs/a?keep_local=false');
      expect(await readArchived(site, 'one')).toBeDefined();
      expect(await listWaiting(site)).toEqual([]);
    },
  );

  it('that was packed before an archive was configured is uploaded too, and again to a different archive', async () => {
    const site = await openUploads();
    await addRun(site, 'early');
    await packRunFolder(site.data, 'early');
    await site.sweep();
    expect(await readArchived(site, 'early')).toEqual(['.audit/stdout.1.log']);
    site.s3.requests.length = 0;
    await site.sweep();
    expect(site.s3.requests).toEqual([]);
    await site.sweep('s3://runs/b');
    expect(await readArchived(site, 'early', 's3://runs/b')).toBeDefined();
  });

  it('that was purged meanwhile is not uploaded', async () => {
    const site = await openUploads();
    await addRun(site, 'one');
    site.s3.fault = () => 'disconnect';
    await site.sweep();
    await site.store.purgeRuns({ endedBefore: Date.now() + 1e6, runs: 10, rows: 100, now: Date.now() });
    site.s3.fault = () => undefined;
    await site.sweep();
    expect(await readArchived(site, 'one')).toBeUndefined();
    expect(await listWaiting(site)).toEqual([]);
    expect(await isPresent(getPackedRunPath(site.data, 'one'))).toBe(false);
  });

  it('whose process was killed before it was named is packed and uploaded by the next', async () => {
    const site = await openUploads();
    await addRun(site, 'one');
    await mkdir(join(site.data, 'packed', 'upload'), { recursive: true });
    await writeFile(join(site.data, 'packed', 'upload', 'one.json'), '{}');
    await writeFile(join(site.data, 'packed', 'upload', 'gone.json'), 'not JSON');
    await site.sweep();
    expect(await readArchived(site, 'one')).toBeDefined();
    expect(await listWaiting(site)).toEqual([]);
  });
});

describe('the retention of an archive', () => {
  it('removes purged runs, and records its progress', async () => {
    const site = await openUploads();
    for (const id of ['one', 'two']) await addRun(site, id);
    await site.sweep();
    const archive = await site.s3.open({ address: 's3://runs/a' });
    const job = createArchiveJob({ store: site.store, archive, data: site.data });
    const { signal } = new AbortController();
    await job.work(signal);
    expect(await readArchived(site, 'one')).toBeDefined();
    await site.store.purgeRuns({ endedBefore: Date.now() + 1e6, runs: 10, rows: 100, now: Date.now() });
    site.s3.fault = ({ method }) => (method === 'DELETE' ? 'unavailable' : undefined);
    await expect(job.work(signal)).rejects.toMatchObject({ code: 'ARCHIVE_UNAVAILABLE' });
    site.s3.fault = () => undefined;
    await job.work(signal);
    expect([await readArchived(site, 'one'), await readArchived(site, 'two')]).toEqual([undefined, undefined]);
    const progress: unknown = JSON.parse(await readFile(join(site.data, 'packed', 'forgotten.json'), 'utf8'));
    expect(progress).toMatchObject({ place: 's3://runs/a', cursor: null });
  });
});
