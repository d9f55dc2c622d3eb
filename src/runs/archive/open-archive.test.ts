import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import type { Emitted } from '../../events/index.js';
import { openForReading, readChunks } from '../../base/files/index.js';
import type { ReadableFile } from '../../base/index.js';
import {
  packRunFolder,
  getPackedRunName,
  getPackedRunPath,
  replayRunFolder,
  rewriteRunLogs,
} from '../run-folder/index.js';
import { openS3Server } from './fixtures/open-s3-server.js';
import type { Fault, S3Server } from './fixtures/open-s3-server.js';
import type { Archive, ArchiveOptions } from './open-archive.js';
import type { UploadProgress } from './upload-file.js';

const RUN = '01KA3ARCHIVED';
const PART = 64 * 1024;

/** Creates bytes that cannot be compressed. */
function createIncompressibleBytes(bytes: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(bytes / 32) }, (_, index) =>
    createHash('sha256').update(String(index)).digest(),
  );
  return Buffer.concat(blocks).subarray(0, bytes);
}

/** Packs a run with this stdout; `events` are the events in its logs before. */
async function makePackedRun(stdout: string | Buffer = 'hello\n') {
  const data = await makeFolder({});
  const audit = join(data, 'runs', RUN, '.audit');
  await mkdir(audit, { recursive: true });
  await writeFile(join(audit, 'stdout.1.log'), stdout);
  await writeFile(join(audit, 'meta.1.json'), JSON.stringify({ run_id: RUN, engine: 'generic', exit_code: 0 }));
  const events: Emitted[] = [];
  if (stdout.length < 1000) for await (const emitted of rewriteRunLogs(join(data, 'runs', RUN))) events.push(emitted);
  await packRunFolder(data, RUN);
  return { data, path: getPackedRunPath(data, RUN), events };
}

async function open(path: string): Promise<ReadableFile> {
  const file = await openForReading(path);
  if (file === undefined) throw new Error(`no such file: ${path}`);
  return file;
}

async function upload(archive: Archive, path: string, options: Parameters<Archive['upload']>[2] = {}): Promise<void> {
  const file = await open(path);
  try {
    await archive.upload(RUN, file, options);
  } finally {
    await file.close();
  }
}

/** Returns the path of the packed run on the server. */
function getObjectPath({ directory }: S3Server): string {
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
  it('can be read, replayed and removed from any host', async () => {
    const site = await openS3Server();
    const { path, events } = await makePackedRun();
    const archive = await site.open();
    expect(await archive.openRun(RUN)).toBeUndefined();
    await upload(archive, path);
    expect((await readFile(getObjectPath(site))).equals(await readFile(path))).toBe(true);
    const folder = await archive.openRun(RUN);
    expect(await folder?.attempts()).toEqual([1]);
    expect((await readStdout(archive)).toString()).toBe('hello\n');
    const storedEvents = async function* read(protocol: Emitted['protocol']) {
      for (const emitted of events) if (emitted.protocol === protocol) yield emitted;
    };
    const replayed = folder === undefined ? undefined : await replayRunFolder(folder, { storedEvents });
    expect(replayed).toMatchObject({ status: 'same', compared: { rasp: expect.any(Number) } });
    await archive.remove(RUN);
    await archive.remove(RUN);
    expect(await archive.openRun(RUN)).toBeUndefined();
  });

  it('takes two requests if it is small, and is read in ranges if it is large', async () => {
    const site = await openS3Server();
    const small = await makePackedRun();
    const archive = await site.open();
    await upload(archive, small.path);
    site.requests.length = 0;
    await readStdout(archive);
    expect(site.requests.map(({ method }) => method)).toEqual(['HEAD', 'GET']);

    const content = createIncompressibleBytes(3_000_000);
    await upload(archive, (await makePackedRun(content)).path);
    const folder = await archive.openRun(RUN);
    const file = await folder?.openAttempt('stdout', 1);
    site.requests.length = 0;
    const buffer = Buffer.alloc(100);
    expect(await file?.read(buffer, 0, 100, 2_000_000)).toEqual({ bytesRead: 100 });
    expect(buffer.equals(content.subarray(2_000_000, 2_000_100))).toBe(true);
    expect(site.requests).toHaveLength(2);
    expect((await readStdout(archive)).equals(content)).toBe(true);
  });

  it('is uploaded in parts if it is large', async () => {
    const site = await openS3Server();
    const { path } = await makePackedRun(createIncompressibleBytes(2_000_000));
    await upload(await site.open({ partBytes: PART }), path);
    const parts = site.requests.filter(({ url }) => url.includes('partNumber='));
    expect(parts.length).toBeGreaterThan(20);
    expect((await readFile(getObjectPath(site))).equals(await readFile(path))).toBe(true);
  });

  it.each([
    ['its first part', 1],
    ['seven parts', 7],
    ['its last request', 'completed'],
  ] as const)('resumes an upload that stopped after %s', async (_, stopAfter) => {
    const site = await openS3Server();
    const { path } = await makePackedRun(createIncompressibleBytes(2_000_000));
    const options: ArchiveOptions = { partBytes: PART };
    let stored: UploadProgress | undefined;
    const onProgress = async (progress: UploadProgress) => {
      stored = progress;
      if (progress.etags.length === stopAfter) throw new Error('killed');
    };
    const failure = await upload(await site.open(options), path, { onProgress }).catch(String);
    expect(failure).toBe(stopAfter === 'completed' ? undefined : 'Error: killed');
    site.requests.length = 0;
    await upload(await site.open(options), path, { progress: stored });
    const isPart = ({ url }: { readonly url: string }) => url.includes('partNumber=');
    expect(site.requests.filter(isPart).map(({ url }) => url)).not.toContainEqual(
      expect.stringContaining('partNumber=1&'),
    );
    expect(site.requests.filter(({ url }) => url.includes('uploads='))).toEqual([]);
    expect((await readFile(getObjectPath(site))).equals(await readFile(path))).toBe(true);
  });

  it('is uploaded from the start if the store no longer has the parts', async () => {
    const site = await openS3Server();
    const { path } = await makePackedRun(createIncompressibleBytes(2_000_000));
    const lostUpload = { upload_id: 'lost', part_bytes: PART, etags: ['0'.repeat(32)] };
    site.fault = ({ url }) => (url.includes('uploadId=lost') ? { status: 404, code: 'NoSuchUpload' } : undefined);
    await upload(await site.open({ partBytes: PART }), path, { progress: lostUpload });
    expect((await readFile(getObjectPath(site))).equals(await readFile(path))).toBe(true);
  });
});

const UPLOAD_ID = 'earlier';

/** Lists the ids of aborted uploads. */
function listAbortedUploads({ requests }: S3Server): string[] {
  return requests.flatMap(({ method, url }) =>
    method === 'DELETE' ? (new URL(url, 'http://localhost').searchParams.get('uploadId') ?? []) : [],
  );
}

describe('an upload that will not be completed', () => {
  it('is aborted if its parts have a different size', async () => {
    const site = await openS3Server();
    const { path } = await makePackedRun(createIncompressibleBytes(300_000));
    const progress = { upload_id: UPLOAD_ID, part_bytes: 2 * PART, etags: ['0'.repeat(32)] };
    await upload(await site.open({ partBytes: PART }), path, { progress });
    expect(listAbortedUploads(site)).toEqual([UPLOAD_ID]);
    expect((await readFile(getObjectPath(site))).equals(await readFile(path))).toBe(true);
  });

  it('is aborted if the store cannot complete it', async () => {
    const site = await openS3Server();
    const { path } = await makePackedRun(createIncompressibleBytes(300_000));
    site.fault = ({ method, url }) =>
      method === 'POST' && url.includes('uploadId=') ? { status: 200, code: 'InternalError' } : undefined;
    await expect(upload(await site.open({ partBytes: PART }), path)).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' });
    expect(listAbortedUploads(site)).toHaveLength(1);
  });

  it('is aborted when the run is removed', async () => {
    const site = await openS3Server();
    const progress = { upload_id: UPLOAD_ID, part_bytes: PART, etags: [] };
    await (await site.open()).remove(RUN, { progress });
    expect(listAbortedUploads(site)).toEqual([UPLOAD_ID]);
  });
});

describe('an upload', () => {
  it.each(['disconnect', 'unavailable', 'truncate'] as const)('is retried after %s', async (fault) => {
    const site = await openS3Server();
    const { path } = await makePackedRun();
    let left = 2;
    site.fault = () => (left-- > 0 ? fault : undefined);
    const archive = await site.open();
    await upload(archive, path);
    expect((await readStdout(archive)).toString()).toBe('hello\n');
  });

  it('is removed and reported if its bytes were corrupted in transit', async () => {
    const site = await openS3Server();
    const { path } = await makePackedRun();
    site.fault = ({ method }) => (method === 'PUT' ? 'corrupt' : undefined);
    const archive = await site.open();
    await expect(upload(archive, path)).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' });
    expect(await archive.openRun(RUN)).toBeUndefined();
  });

  it("is read back if the store's ETag is not an MD5", async () => {
    const site = await openS3Server();
    const { path } = await makePackedRun(createIncompressibleBytes(300_000));
    // The test server computes a different ETag for multipart uploads.
    await upload(await site.open({ partBytes: PART }), path);
    const reads = site.requests.filter(({ method }) => method === 'GET');
    expect(reads.length).toBeGreaterThan(0);
  });
});

describe('an archive', () => {
  const cases: readonly (readonly [string, string, (site: S3Server) => Promise<Archive>])[] = [
    ['that refuses the credentials', 'ARCHIVE_REFUSED', async (site) => site.open({ accessKeyId: 'AKIAWRONG' })],
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
      'that hangs',
      'ARCHIVE_UNAVAILABLE',
      async (site) => {
        site.fault = () => 'silence';
        return site.open({ retry: { maxAttempts: 2, firstPauseMs: 1, timeoutMs: 50 } });
      },
    ],
    [
      'that redirects requests',
      'ARCHIVE_REFUSED',
      async (site) => {
        site.fault = () => ({ status: 301, code: 'PermanentRedirect' });
        return site.open();
      },
    ],
  ];

  it.each(cases)('%s is reported as %s', async (_, code, openBroken) => {
    const site = await openS3Server();
    const { path } = await makePackedRun();
    const archive = await openBroken(site);
    const problem: unknown = await upload(archive, path).catch((error: unknown) => error);
    expect(problem).toMatchObject({ code });
    expect(String(problem)).not.toMatch(/AKIAWRONG|Signature|Credential=/);
    await expect(archive.check()).rejects.toMatchObject({ code });
  });

  it.each([301, 302, 307, 308])('does not lead elsewhere with status %d', async (status) => {
    const [site, elsewhere] = [await openS3Server(), await openS3Server()];
    site.fault = ({ url }) => ({ status, code: 'Moved', location: `${elsewhere.endpoint}${url}` });
    const archive = await site.open();
    await expect(upload(archive, (await makePackedRun()).path)).rejects.toMatchObject({ code: 'ARCHIVE_REFUSED' });
    await expect(archive.openRun(RUN)).rejects.toMatchObject({ code: 'ARCHIVE_REFUSED' });
    expect(site.requests.length).toBeGreaterThan(1);
    expect(elsewhere.requests).toEqual([]);
  });

  it('is checked by writing, reading and deleting an object', async () => {
    const site = await openS3Server();
    await (await site.open()).check();
    expect(site.requests.map(({ method }) => method)).toEqual(['PUT', 'GET', 'DELETE']);
    site.fault = ({ method }) => (method === 'GET' ? 'corrupt' : undefined);
    await expect((await site.open()).check()).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' });
  });
});

describe('checking an archive', () => {
  it.each<[string, Fault, string]>([
    ['reading is refused', { status: 403, code: 'AccessDenied' }, 'ARCHIVE_REFUSED'],
    ['the bytes are wrong', 'corrupt', 'ARCHIVE_DAMAGED'],
  ])('deletes the test object even if %s', async (_, fault, code) => {
    const site = await openS3Server();
    site.fault = ({ method }) => (method === 'GET' ? fault : undefined);
    await expect((await site.open()).check()).rejects.toMatchObject({ code });
    expect(site.requests.map(({ method }) => method)).toEqual(['PUT', 'GET', 'DELETE']);
  });
});

describe('an object that differs from the upload', () => {
  it('is reported if it was removed while it was being read', async () => {
    const site = await openS3Server();
    const archive = await site.open();
    await upload(archive, (await makePackedRun(createIncompressibleBytes(2_000_000))).path);
    const file = await (await archive.openRun(RUN))?.openAttempt('stdout', 1);
    await archive.remove(RUN);
    const read = file?.read(Buffer.alloc(9), 0, 9, 1_000_000);
    await expect(read).rejects.toThrow('it was removed or replaced while it was being read. Read it again.');
  });

  it.each([
    ['truncated', async (path: string, bytes: Buffer) => truncate(path, bytes.length - 1000)],
    ['emptied', async (path: string) => truncate(path, 0)],
    [
      'changed',
      async (path: string, bytes: Buffer) => {
        bytes[200_000] = (bytes[200_000] ?? 0) ^ 1;
        await writeFile(path, bytes);
      },
    ],
  ])('is reported if it was %s', async (_, damage) => {
    const site = await openS3Server();
    const archive = await site.open();
    await upload(archive, (await makePackedRun(createIncompressibleBytes(2_000_000))).path);
    const object = getObjectPath(site);
    await damage(object, await readFile(object));
    await expect(readStdout(archive)).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:PACKED_RUN_DAMAGED|ARCHIVE_DAMAGED)$/),
    });
    expect(await readdir(site.directory)).toEqual(['runs']);
  });
});
