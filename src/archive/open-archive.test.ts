import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../test/temporary-folder.js';
import { openForReading, readChunks } from '../files/index.js';
import type { ReadableFile } from '../base/index.js';
import {
  packRunFolder,
  getPackedRunName,
  getPackedRunPath,
  replayRunFolder,
  rewriteRunLogs,
} from '../run-folder/index.js';
import { openS3Server } from './fixtures/open-s3-server.js';
import type { S3Server } from './fixtures/open-s3-server.js';
import type { Archive, ArchiveOptions } from './open-archive.js';
import type { UploadProgress } from './upload-file.js';

const RUN = '01KA3ARCHIVED';
const PART = 64 * 1024;

/** Bytes that cannot be compressed. */
function noise(bytes: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(bytes / 32) }, (_, index) =>
    createHash('sha256').update(String(index)).digest(),
  );
  return Buffer.concat(blocks).subarray(0, bytes);
}

/** A packed run: a small one, or one of about 2 MB, whose stdout is stored. */
async function makePacked(stdout: string | Buffer = 'hello\n'): Promise<{ data: string; path: string }> {
  const data = await makeFolder({});
  const audit = join(data, 'runs', RUN, '.audit');
  await mkdir(audit, { recursive: true });
  await writeFile(join(audit, 'stdout.1.log'), stdout);
  await writeFile(join(audit, 'meta.1.json'), JSON.stringify({ run_id: RUN, engine: 'generic', exit_code: 0 }));
  if (stdout.length < 1000) for await (const _ of rewriteRunLogs(join(data, 'runs', RUN)));
  await packRunFolder(data, RUN);
  return { data, path: getPackedRunPath(data, RUN) };
}

async function open(path: string): Promise<ReadableFile> {
  const file = await openForReading(path);
  if (file === undefined) throw new Error(`no such file: ${path}`);
  return file;
}

async function upload(archive: Archive, path: string, how: Parameters<Archive['upload']>[2] = {}): Promise<void> {
  const file = await open(path);
  try {
    await archive.upload(RUN, file, how);
  } finally {
    await file.close();
  }
}

/** Finds the file in which the server stores the bytes of an object. */
function findObject({ directory }: S3Server): string {
  return join(directory, 'runs', 'team a', `${getPackedRunName(RUN)}._S3rver_object`);
}

async function readStdout(archive: Archive): Promise<Buffer> {
  const folder = await archive.openRun(RUN);
  const file = await folder?.openAttempt('stdout', 1);
  const chunks: Uint8Array[] = [];
  if (file !== undefined) for await (const chunk of readChunks(file)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('an archived run', () => {
  it('is read, replayed and removed from any machine', async () => {
    const site = await openS3Server();
    const { path } = await makePacked();
    const archive = await site.open();
    expect(await archive.openRun(RUN)).toBeUndefined();
    await upload(archive, path);
    expect((await readFile(findObject(site))).equals(await readFile(path))).toBe(true);
    const folder = await archive.openRun(RUN);
    expect(await folder?.attempts()).toEqual([1]);
    expect((await readStdout(archive)).toString()).toBe('hello\n');
    expect(folder === undefined ? undefined : await replayRunFolder(folder)).toMatchObject({ status: 'same' });
    await archive.remove(RUN);
    await archive.remove(RUN);
    expect(await archive.openRun(RUN)).toBeUndefined();
  });

  it('needs two requests for a small run, and reads single ranges of a large one', async () => {
    const site = await openS3Server();
    const small = await makePacked();
    const archive = await site.open();
    await upload(archive, small.path);
    site.seen.length = 0;
    await readStdout(archive);
    expect(site.seen.map(({ method }) => method)).toEqual(['HEAD', 'GET']);

    const content = noise(3_000_000);
    await upload(archive, (await makePacked(content)).path);
    const folder = await archive.openRun(RUN);
    const file = await folder?.openAttempt('stdout', 1);
    site.seen.length = 0;
    const buffer = Buffer.alloc(100);
    expect(await file?.read(buffer, 0, 100, 2_000_000)).toEqual({ bytesRead: 100 });
    expect(buffer.equals(content.subarray(2_000_000, 2_000_100))).toBe(true);
    expect(site.seen).toHaveLength(2);
    expect((await readStdout(archive)).equals(content)).toBe(true);
  });

  it('is uploaded in parts if it is large', async () => {
    const site = await openS3Server();
    const { path } = await makePacked(noise(2_000_000));
    await upload(await site.open({ partBytes: PART }), path);
    const parts = site.seen.filter(({ url }) => url.includes('partNumber='));
    expect(parts.length).toBeGreaterThan(20);
    expect((await readFile(findObject(site))).equals(await readFile(path))).toBe(true);
  });

  it.each([1, 7, 'completed'] as const)('resumes an upload that stopped after %s parts', async (stopped) => {
    const site = await openS3Server();
    const { path } = await makePacked(noise(2_000_000));
    const options: ArchiveOptions = { partBytes: PART };
    let kept: UploadProgress | undefined;
    const onProgress = async (progress: UploadProgress) => {
      kept = progress;
      if (progress.etags.length === stopped) throw new Error('killed');
    };
    const first = await upload(await site.open(options), path, { onProgress }).catch(String);
    expect(first).toBe(stopped === 'completed' ? undefined : 'Error: killed');
    site.seen.length = 0;
    await upload(await site.open(options), path, { progress: kept });
    const isPart = ({ url }: { readonly url: string }) => url.includes('partNumber=');
    expect(site.seen.filter(isPart).map(({ url }) => url)).not.toContainEqual(expect.stringContaining('partNumber=1&'));
    expect(site.seen.filter(({ url }) => url.includes('uploads='))).toEqual([]);
    expect((await readFile(findObject(site))).equals(await readFile(path))).toBe(true);
  });

  it('starts over if the store no longer has the upload', async () => {
    const site = await openS3Server();
    const { path } = await makePacked(noise(2_000_000));
    const lost = { upload_id: 'lost', part_bytes: PART, etags: ['0'.repeat(32)] };
    site.fault = ({ url }) => (url.includes('uploadId=lost') ? { status: 404, code: 'NoSuchUpload' } : undefined);
    await upload(await site.open({ partBytes: PART }), path, { progress: lost });
    expect((await readFile(findObject(site))).equals(await readFile(path))).toBe(true);
  });
});

describe('an upload', () => {
  it.each(['disconnect', 'unavailable', 'cut'] as const)('is retried after %s', async (fault) => {
    const site = await openS3Server();
    const { path } = await makePacked();
    let left = 2;
    site.fault = () => (left-- > 0 ? fault : undefined);
    const archive = await site.open();
    await upload(archive, path);
    expect((await readStdout(archive)).toString()).toBe('hello\n');
  });

  it('whose bytes arrive changed is removed, and is an error', async () => {
    const site = await openS3Server();
    const { path } = await makePacked();
    site.fault = ({ method }) => (method === 'PUT' ? 'corrupt' : undefined);
    const archive = await site.open();
    await expect(upload(archive, path)).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' });
    expect(await archive.openRun(RUN)).toBeUndefined();
  });

  it('in parts is read back if the store does not compute MD5', async () => {
    const site = await openS3Server();
    const { path } = await makePacked(noise(300_000));
    // The test server computes a different ETag for objects made of parts.
    await upload(await site.open({ partBytes: PART }), path);
    const reads = site.seen.filter(({ method }) => method === 'GET');
    expect(reads.length).toBeGreaterThan(0);
  });
});

describe('an archive that cannot be used is a typed error', () => {
  const cases: readonly (readonly [string, string, (site: S3Server) => Promise<Archive>])[] = [
    ['with wrong credentials', 'ARCHIVE_REFUSED', async (site) => site.open({ accessKeyId: 'AKIAWRONG' })],
    ['without its bucket', 'ARCHIVE_BUCKET_MISSING', async (site) => site.open({ address: 's3://missing' })],
    [
      'that is down',
      'ARCHIVE_UNAVAILABLE',
      async (site) => {
        site.fault = () => 'disconnect';
        return site.open({ retry: { maxAttempts: 2, firstPauseMs: 1 } });
      },
    ],
    [
      'that sends its users elsewhere',
      'ARCHIVE_REFUSED',
      async (site) => {
        site.fault = () => ({ status: 301, code: 'PermanentRedirect' });
        return site.open();
      },
    ],
  ];

  it.each(cases)('%s: %s', async (_, code, openBroken) => {
    const site = await openS3Server();
    const { path } = await makePacked();
    const archive = await openBroken(site);
    const problem: unknown = await upload(archive, path).catch((error: unknown) => error);
    expect(problem).toMatchObject({ code });
    expect(String(problem)).not.toMatch(/AKIAWRONG|Signature|Credential=/);
    await expect(archive.check()).rejects.toMatchObject({ code });
  });

  it('is checked by writing, reading and deleting', async () => {
    const site = await openS3Server();
    await (await site.open()).check();
    expect(site.seen.map(({ method }) => method)).toEqual(['PUT', 'GET', 'DELETE']);
    site.fault = ({ method }) => (method === 'GET' ? 'corrupt' : undefined);
    await expect((await site.open()).check()).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' });
  });
});

describe('an object that differs from the upload is a typed error', () => {
  it('removed while it is read', async () => {
    const site = await openS3Server();
    const archive = await site.open();
    await upload(archive, (await makePacked(noise(2_000_000))).path);
    const file = await (await archive.openRun(RUN))?.openAttempt('stdout', 1);
    await archive.remove(RUN);
    const read = file?.read(Buffer.alloc(9), 0, 9, 1_000_000);
    await expect(read).rejects.toThrow('it was removed or replaced while it was being read. Read it again.');
  });

  it.each([
    ['cut short', async (path: string, bytes: Buffer) => truncate(path, bytes.length - 1000)],
    ['empty', async (path: string) => truncate(path, 0)],
    [
      'changed',
      async (path: string, bytes: Buffer) => {
        bytes[200_000] = (bytes[200_000] ?? 0) ^ 1;
        await writeFile(path, bytes);
      },
    ],
  ])('%s', async (_, damage) => {
    const site = await openS3Server();
    const archive = await site.open();
    await upload(archive, (await makePacked(noise(2_000_000))).path);
    const object = findObject(site);
    await damage(object, await readFile(object));
    await expect(readStdout(archive)).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:PACKED_RUN_DAMAGED|ARCHIVE_DAMAGED)$/),
    });
    expect(await readdir(site.directory)).toEqual(['runs']);
  });
});
