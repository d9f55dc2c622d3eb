import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { openS3Server } from '../../runs/archive/fixtures/open-s3-server.js';
import { openForReading } from '../../base/files/index.js';
import { listAuditFiles, packRunFolder, getPackedRunPath } from '../../runs/run-folder/index.js';
import { sampleClaim } from '../../store/contract/fixtures/order-samples.js';
import { createRunResult, sampleSpec } from '../../store/contract/fixtures/run-samples.js';
import { openServer, readJson } from '../fixtures/open-server.js';

const RUN = '01KA3ELSEWHERE';
const BYTES = Buffer.alloc(2_500_000, 'over there\n');

/** A server with neither the run folder nor the working folder of a run, which "another-host" executed. */
async function openOnOtherHost(readWorkdir = (_workdir: string) => '/nowhere/at/all') {
  const s3 = await openS3Server();
  const archive = await s3.open();
  const server = await openServer({ archive });
  const spec = sampleSpec({ workdir: readWorkdir(server.work) });
  await server.store.createRun({ id: RUN, spec, state: 'queued', now: 0 });
  const claim = sampleClaim('w1');
  await server.store.claimRun({ ...claim, worker: { ...claim.worker, host: 'another-host' } });
  const end = async () => {
    const artifacts = { created: ['out/a.txt'], modified: [], deleted: [] };
    await server.store.endRun({ id: RUN, workerId: 'w1', result: createRunResult({ artifacts }), now: 1 });
  };
  const upload = async () => {
    const data = await makeFolder({});
    const folder = join(data, 'runs', RUN);
    await mkdir(join(folder, '.audit'), { recursive: true });
    await mkdir(join(folder, '.artifacts', 'out'), { recursive: true });
    await writeFile(join(folder, '.audit', 'stdout.1.log'), BYTES);
    await writeFile(join(folder, '.artifacts', 'out', 'a.txt'), 'artifact');
    await packRunFolder(data, RUN);
    const file = await openForReading(getPackedRunPath(data, RUN));
    if (file === undefined) throw new Error('nothing was packed');
    await archive.upload(RUN, file);
    await file.close();
  };
  const growingFolder = await makeFolder({});
  /** Copies the run as its worker does, with the given content in its first stream. */
  const uploadPart = async (stdout: Buffer) => {
    await mkdir(join(growingFolder, '.audit'), { recursive: true });
    await writeFile(join(growingFolder, '.audit', 'stdout.1.log'), stdout);
    await archive.openGrowingCopy(RUN).update(await listAuditFiles(growingFolder));
  };
  return { ...server, s3, end, upload, uploadPart };
}

describe('a run on another host', () => {
  it('is served from the archive: raw bytes, ranges, files, artifacts and export', async () => {
    const { get, end, upload } = await openOnOtherHost();
    await end();
    await upload();
    const part = await get(`/v1/runs/${RUN}/raw/1/stdout`, { range: 'bytes=2200000-2200010' });
    expect([part.status, await part.text()]).toEqual([206, 'over there\n']);
    const allBytes = Buffer.from(await (await get(`/v1/runs/${RUN}/raw/1/stdout`)).arrayBuffer());
    expect(allBytes.equals(BYTES)).toBe(true);
    expect(await readJson(get(`/v1/runs/${RUN}/files`))).toMatchObject({
      host: 'another-host',
      source: 'archive',
      evidence: [{ name: 'stdout.1.log', size: BYTES.length }],
      artifacts: [{ path: 'out/a.txt', change: 'created', size: 8 }],
    });
    expect(await (await get(`/v1/runs/${RUN}/artifact?path=out/a.txt`)).text()).toBe('artifact');
    const tar = Buffer.from(await (await get(`/v1/runs/${RUN}/export`)).arrayBuffer());
    expect(tar.includes(`${RUN}/.audit/stdout.1.log`)).toBe(true);
    expect((await get(`/v1/runs/${RUN}/report`)).status).toBe(200);
  });

  it('names the host that has its files if the archive does not have them', async () => {
    const { get, end } = await openOnOtherHost();
    expect(await readJson(get(`/v1/runs/${RUN}/files`))).toMatchObject({ host: 'another-host', source: null });
    for (const path of ['raw/1/stdout', 'export', 'evidence?name=stdout.1.log']) {
      const response = await get(`/v1/runs/${RUN}/${path}`);
      expect(response.status).toBe(409);
      expect(await response.json()).toMatchObject({
        code: 'RUN_ON_ANOTHER_HOST',
        detail: expect.stringContaining('"another-host"'),
      });
    }
    await end();
    expect(await readJson(get(`/v1/runs/${RUN}/files`))).toMatchObject({
      host: 'another-host',
      source: null,
      evidence: [],
      artifacts: [{ path: 'out/a.txt', size: null }],
    });
    for (const path of ['raw/1/stdout', 'export', 'case']) {
      const problem = await readJson(get(`/v1/runs/${RUN}/${path}`));
      expect(problem).toMatchObject({ code: 'FILE_NOT_FOUND', detail: expect.stringContaining('"another-host"') });
    }
    for (const path of ['evidence?name=stdout.1.log', 'artifact?path=out/a.txt']) {
      const problem = await readJson(get(`/v1/runs/${RUN}/${path}`));
      expect(problem).toMatchObject({ code: 'FILE_NOT_FOUND', detail: expect.stringContaining('"another-host"') });
    }
  });

  it('is never shown with local files at the same path', async () => {
    const { get, end, upload, work } = await openOnOtherHost((workdir) => workdir);
    await mkdir(join(work, 'out'));
    await writeFile(join(work, 'out', 'a.txt'), 'a local file');
    await end();
    expect(await readJson(get(`/v1/runs/${RUN}/files`))).toMatchObject({
      artifacts: [{ path: 'out/a.txt', size: null }],
    });
    expect((await get(`/v1/runs/${RUN}/artifact?path=out/a.txt`)).status).toBe(404);
    await upload();
    expect(await (await get(`/v1/runs/${RUN}/artifact?path=out/a.txt`)).text()).toBe('artifact');
  });

  it('can be read up to the copied position, while it grows and after its worker and disk are lost', async () => {
    const { get, end, uploadPart } = await openOnOtherHost();
    await uploadPart(BYTES.subarray(0, 1000));
    const running = await get(`/v1/runs/${RUN}/raw/1/stdout`);
    expect([running.status, await running.text()]).toEqual([200, BYTES.toString('utf8', 0, 1000)]);
    await uploadPart(BYTES);
    const part = await get(`/v1/runs/${RUN}/raw/1/stdout`, { range: 'bytes=2200000-2200010' });
    expect([part.status, await part.text()]).toEqual([206, 'over there\n']);
    await end();
    expect(await readJson(get(`/v1/runs/${RUN}/files`))).toMatchObject({
      source: 'archive',
      evidence: [{ name: 'stdout.1.log', size: BYTES.length }],
    });
    const tar = Buffer.from(await (await get(`/v1/runs/${RUN}/export`)).arrayBuffer());
    expect(tar.includes(`${RUN}/.audit/stdout.1.log`)).toBe(true);
  });

  it('responds with 503 while the archive is unavailable, and does not query the archive for a run that has not started', async () => {
    const { get, end, s3, store } = await openOnOtherHost();
    s3.fault = () => 'disconnect';
    await store.createRun({ id: '01KA3WAITING', spec: sampleSpec(), state: 'queued', now: 0 });
    expect((await get(`/v1/runs/01KA3WAITING/raw/1/stdout`)).status).toBe(404);
    expect(s3.requests).toEqual([]);
    await end();
    const problem = await readJson(get(`/v1/runs/${RUN}/raw/1/stdout`));
    expect(problem).toMatchObject({ status: 503, code: 'ARCHIVE_UNAVAILABLE' });
  });
});
