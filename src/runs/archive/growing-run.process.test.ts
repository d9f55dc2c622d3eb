import { once } from 'node:events';
import { appendFile, copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { openForReading, readChunks, readSpan } from '../../base/files/index.js';
import { listAuditFiles, packRunFolder, getPackedRunPath, readRunEvents, rewriteRunLogs } from '../run-folder/index.js';
import { openS3Server } from './fixtures/open-s3-server.js';
import type { S3Server } from './fixtures/open-s3-server.js';
import type { Archive } from './open-archive.js';

const RUN = '01KA3GROWING';
/** Parts of 64 KiB, so a small run has more than one. */
const ADDRESS = 's3://runs/team a?copy_part_kib=64';
const LINE = '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"hello"}}\n';

async function makeRun(): Promise<{ data: string; folder: string; stdout: string }> {
  const data = await makeFolder({});
  const folder = join(data, 'runs', RUN);
  await mkdir(join(folder, '.audit'), { recursive: true });
  await writeFile(join(folder, '.audit', 'meta.1.json'), JSON.stringify({ run_id: RUN, engine: 'codex' }));
  const stdout = join(folder, '.audit', 'stdout.1.log');
  await writeFile(stdout, '{"type":"thread.started","thread_id":"t"}\n');
  return { data, folder, stdout };
}

async function update(archive: Archive, folder: string, copy = archive.openGrowingCopy(RUN)): Promise<number> {
  return copy.update(await listAuditFiles(folder));
}

async function readStdout(archive: Archive): Promise<string | undefined> {
  const file = await (await archive.openRun(RUN))?.openAttempt('stdout', 1);
  if (file === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of readChunks(file)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Lists the object names on the server: `manifest`, `1`, … */
async function listObjects({ directory }: S3Server): Promise<string[]> {
  const found = await readdir(directory, { recursive: true });
  return found.flatMap((path) => /([^/]+)\._S3rver_object$/u.exec(path)?.[1] ?? []).toSorted();
}

describe('a growing run', () => {
  it('can be read from any host as far as it was copied, until its packed file replaces its parts', async () => {
    const site = await openS3Server();
    const { data, folder, stdout } = await makeRun();
    const archive = await site.open({ address: ADDRESS });
    const copy = archive.openGrowingCopy(RUN);
    let expected = '{"type":"thread.started","thread_id":"t"}\n';
    for (const lines of [0, 10, 1000, 20_000, 3]) {
      const text = LINE.repeat(lines);
      await appendFile(stdout, text);
      expected += text;
      await update(archive, folder, copy);
      expect(await readStdout(archive)).toBe(expected);
    }
    expect(await update(archive, folder, copy)).toBe(0);
    const rasp: string[] = [];
    for await (const { protocol, event } of rewriteRunLogs(folder))
      if (protocol === 'rasp') rasp.push(JSON.stringify(event));
    expect(await update(archive, folder, copy)).toBe(0);
    const archivedRun = await archive.openRun(RUN);
    expect(await archivedRun?.meta(1)).toMatchObject({ engine: 'codex' });
    const rebuilt: string[] = [];
    if (archivedRun !== undefined)
      for await (const { event } of readRunEvents(archivedRun, 'rasp')) rebuilt.push(JSON.stringify(event));
    expect(rebuilt).toEqual(rasp);
    const range = await archivedRun?.openAttempt('stdout', 1);
    expect(range === undefined ? '' : (await readSpan(range, 1_000_000, 50)).toString()).toBe(
      expected.slice(1_000_000, 1_000_050),
    );

    await packRunFolder(data, RUN);
    const packed = await openForReading(getPackedRunPath(data, RUN));
    if (packed === undefined) throw new Error('nothing was packed');
    await archive.upload(RUN, packed);
    await packed.close();
    expect(await listObjects(site)).toEqual([`${RUN}.zip`]);
    expect(await readStdout(archive)).toBe(expected);
  });

  it('has few objects even if it grows in many small steps', async () => {
    const site = await openS3Server();
    const { folder, stdout } = await makeRun();
    const archive = await site.open({ address: ADDRESS });
    const copy = archive.openGrowingCopy(RUN);
    for (let step = 0; step < 12; step += 1) {
      await appendFile(stdout, LINE.repeat(100));
      expect(await update(archive, folder, copy)).toBe(1);
    }
    expect((await listObjects(site)).length).toBe(3);
    await archive.remove(RUN);
    await archive.remove(RUN);
    expect(await listObjects(site)).toEqual([]);
    expect(await archive.openRun(RUN)).toBeUndefined();
  });

  it('is continued by another process, and copied from the start if a file was replaced', async () => {
    const site = await openS3Server();
    const { folder, stdout } = await makeRun();
    const archive = await site.open({ address: ADDRESS });
    await appendFile(stdout, LINE.repeat(10_000));
    await update(archive, folder);
    site.requests.length = 0;
    await appendFile(stdout, LINE);
    await update(archive, folder);
    expect(site.requests.filter(({ method, url }) => method === 'PUT' && !url.endsWith('manifest'))).toHaveLength(1);
    await writeFile(`${stdout}.new`, 'other\n');
    await rename(`${stdout}.new`, stdout);
    await update(archive, folder);
    expect(await readStdout(archive)).toBe('other\n');
  });

  it('can be read while its last part is replaced by a longer part', async () => {
    const site = await openS3Server();
    const { folder, stdout } = await makeRun();
    const archive = await site.open({ address: ADDRESS });
    const copy = archive.openGrowingCopy(RUN);
    await update(archive, folder, copy);
    const reader = await (await archive.openRun(RUN))?.openAttempt('stdout', 1);
    await appendFile(stdout, LINE);
    await update(archive, folder, copy);
    expect(reader === undefined ? '' : (await readSpan(reader, 0, 1000)).toString()).toBe(
      '{"type":"thread.started","thread_id":"t"}\n',
    );
    const lateReader = await (await archive.openRun(RUN))?.openAttempt('stdout', 1);
    await archive.remove(RUN);
    await expect(lateReader?.read(Buffer.alloc(9), 0, 9, 0)).rejects.toMatchObject({ code: 'ARCHIVE_UNAVAILABLE' });
  });

  it.each(['disconnect', 'unavailable', 'truncate', 'corrupt'] as const)(
    'is copied completely even if every third request fails: %s',
    async (fault) => {
      const site = await openS3Server();
      const { folder, stdout } = await makeRun();
      const archive = await site.open({ address: ADDRESS });
      const copy = archive.openGrowingCopy(RUN);
      let count = 0;
      site.fault = () => ((count += 1) % 3 === 0 ? fault : undefined);
      let expected = '{"type":"thread.started","thread_id":"t"}\n';
      for (let step = 0; step < 8; step += 1) {
        await appendFile(stdout, LINE.repeat(1000));
        expected += LINE.repeat(1000);
        await update(archive, folder, copy).catch(() => undefined);
      }
      site.fault = () => undefined;
      await update(archive, folder, copy);
      expect(await readStdout(archive)).toBe(expected);
    },
  );

  it('leaves no replaced part behind if deleting it failed', async () => {
    const site = await openS3Server();
    const { folder, stdout } = await makeRun();
    const archive = await site.open({ address: ADDRESS });
    const copy = archive.openGrowingCopy(RUN);
    await update(archive, folder, copy);
    await appendFile(stdout, LINE);
    site.fault = ({ method }) => (method === 'DELETE' ? 'unavailable' : undefined);
    await expect(update(archive, folder, copy)).rejects.toMatchObject({ code: 'ARCHIVE_UNAVAILABLE' });
    expect(await listObjects(site)).toEqual(['1', '2', 'manifest']);
    site.fault = () => undefined;
    await appendFile(stdout, LINE);
    await update(archive, folder, copy);
    expect(await listObjects(site)).toEqual(['3', 'manifest']);
  });

  it('is removed completely even if its manifest is damaged', async () => {
    const site = await openS3Server();
    const { folder, stdout } = await makeRun();
    const archive = await site.open({ address: ADDRESS });
    const copy = archive.openGrowingCopy(RUN);
    for (let step = 0; step < 3; step += 1) {
      await appendFile(stdout, LINE.repeat(1000));
      await update(archive, folder, copy);
    }
    expect((await listObjects(site)).length).toBeGreaterThan(3);
    // More parts than the store returns in one list.
    const files = await readdir(site.directory, { recursive: true });
    const part = files.filter((path) => /\/1\._S3rver_/u.test(path));
    for (let number = 1000; number < 1110; number += 1) {
      for (const path of part) {
        await copyFile(join(site.directory, path), join(site.directory, path.replace('/1._', `/${number}._`)));
      }
    }
    expect((await listObjects(site)).length).toBeGreaterThan(110);
    site.fault = ({ method, url }) => (method === 'GET' && url.endsWith('/manifest') ? 'corrupt' : undefined);
    await archive.remove(RUN);
    expect(await listObjects(site)).toEqual([]);
  });

  it('is reported as damaged if its manifest is damaged and the store does not list objects', async () => {
    const site = await openS3Server();
    const { folder } = await makeRun();
    const archive = await site.open({ address: ADDRESS });
    await update(archive, folder);
    const createRefusal =
      (status: number): S3Server['fault'] =>
      ({ method, url }) => {
        if (method !== 'GET') return undefined;
        return url.endsWith('/manifest') ? 'corrupt' : { status, code: 'NotImplemented' };
      };
    for (const status of [200, 403, 404, 501]) {
      site.fault = createRefusal(status);
      site.requests.length = 0;
      await expect(archive.remove(RUN)).rejects.toMatchObject({
        code: 'ARCHIVE_DAMAGED',
        message: expect.stringContaining('Check that the store supports ListObjects'),
      });
      // Not retried: a store that does not support a request never will.
      expect(site.requests.filter(({ url }) => url.includes('max-keys='))).toHaveLength(1);
    }
  });

  it('is rejected if a byte of a part or its manifest changed', async () => {
    const site = await openS3Server();
    const { folder } = await makeRun();
    const archive = await site.open({ address: ADDRESS });
    await update(archive, folder);
    site.fault = ({ method, url }) => (method === 'GET' && url.endsWith('/1') ? 'corrupt' : undefined);
    await expect(readStdout(archive)).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' });
    site.fault = ({ method, url }) => (method === 'GET' && url.endsWith('/manifest') ? 'corrupt' : undefined);
    await expect(readStdout(archive)).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' });
  });

  it('is reported as damaged if a part is gone that its manifest still names', async () => {
    const site = await openS3Server();
    const { folder } = await makeRun();
    const archive = await site.open({ address: ADDRESS });
    await update(archive, folder);
    const paths = await readdir(site.directory, { recursive: true });
    for (const path of paths.filter((each) => /\/1\._S3rver_/u.test(each))) await rm(join(site.directory, path));
    expect(await listObjects(site)).toEqual(['manifest']);
    await expect(readStdout(archive)).rejects.toMatchObject({
      code: 'ARCHIVE_DAMAGED',
      message: expect.stringMatching(/\/1".*it is missing\. Restore it/),
    });
  });

  it(
    'is continued after the copying process was killed at any request, without leftover objects',
    { timeout: 120_000 },
    async () => {
      const program = await bundleProgram(new URL('./fixtures/copy-growing-run.js', import.meta.url));
      const expected = `{"type":"thread.started","thread_id":"t"}\n${LINE.repeat(8000)}`;
      // The requests of a copy: read the manifest, write a part, write the manifest, delete a part, and so on.
      for (let killAt = 1; ; killAt += 1) {
        const site = await openS3Server();
        const { folder, stdout } = await makeRun();
        const archive = await site.open({ address: ADDRESS });
        await update(archive, folder);
        await appendFile(stdout, LINE.repeat(8000));
        let count = 0;
        let wasKilled = false;
        const child = program.start([site.endpoint, folder, RUN]);
        site.fault = () => {
          if (wasKilled || (count += 1) < killAt) return undefined;
          wasKilled = true;
          child.kill('SIGKILL');
          // For even numbers, the request still reaches the store.
          return killAt % 2 === 0 ? undefined : 'disconnect';
        };
        await once(child, 'exit');
        const isDone = !wasKilled;
        wasKilled = true;
        expect(expected.startsWith((await readStdout(archive)) ?? 'missing')).toBe(true);
        await update(archive, folder);
        expect(await readStdout(archive)).toBe(expected);
        const objects = await listObjects(site);
        await rm(folder, { recursive: true });
        expect(await readStdout(archive)).toBe(expected);
        await archive.remove(RUN);
        expect([objects.length < 5, await listObjects(site)]).toEqual([true, []]);
        if (isDone) break;
      }
    },
  );
});
