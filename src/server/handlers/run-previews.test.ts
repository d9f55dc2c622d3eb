import { mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRunResult, sampleSpec } from '../../store/contract/fixtures/run-samples.js';
import { readJson, openServer } from '../fixtures/open-server.js';

const MALICIOUS_HTML = '<script>alert(1)</script>';

async function write(folder: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** A server with an active run that has files in its run folder and in its working folder; `end` ends the run. */
async function openWithRun(artifacts = { created: ['out/page.html'], modified: ['README.md'], deleted: ['old.txt'] }) {
  const server = await openServer();
  const { store, data, work } = server;
  const runFolder = join(data, 'runs', 'r1');
  await write(runFolder, {
    'work_order.json': '{}',
    'work_result.json': '{"status":"ok"}',
    'notes.txt': 'of the agent',
    '.audit/meta.1.json': '{}',
    '.audit/stdout.1.log': MALICIOUS_HTML,
    '.audit/stderr.1.log': '',
    '.audit/fs-diff.1.json': '{"created":["early.txt"]}',
    '.audit/events.jsonl': '{}\n',
  });
  await write(work, { 'out/page.html': MALICIOUS_HTML, 'secret.txt': 'not an artifact', 'early.txt': 'early' });
  await store.createRun({ id: 'r1', spec: sampleSpec({ workdir: work }), state: 'running', workerId: 'w1', now: 0 });
  const end = async () => store.endRun({ id: 'r1', workerId: 'w1', result: createRunResult({ artifacts }), now: 1 });
  const artifact = async (path: string) => server.get(`/v1/runs/r1/artifact?path=${encodeURIComponent(path)}`);
  const evidence = async (name: string, headers = {}) =>
    server.get(`/v1/runs/r1/evidence?name=${encodeURIComponent(name)}`, headers);
  return { ...server, runFolder, end, artifact, evidence };
}

const NOT_FOUND = { status: 404, code: 'FILE_NOT_FOUND' };

describe('the file list of a run', () => {
  it('has its logs and the files it changed', async () => {
    const { get, end } = await openWithRun();
    await end();
    expect(await readJson(get('/v1/runs/r1/files'))).toEqual({
      source: 'folder',
      evidence: [
        { name: 'work_order.json', size: 2 },
        { name: 'work_result.json', size: 15 },
        { name: 'stdout.1.log', size: MALICIOUS_HTML.length },
        { name: 'stderr.1.log', size: 0 },
        { name: 'meta.1.json', size: 2 },
        { name: 'fs-diff.1.json', size: 25 },
        { name: 'events.jsonl', size: 3 },
      ],
      artifacts: [
        { path: 'out/page.html', change: 'created', size: MALICIOUS_HTML.length },
        { path: 'README.md', change: 'modified', size: 1 },
        { path: 'old.txt', change: 'deleted', size: null },
      ],
      artifacts_left_out: 0,
    });
  });

  it('is available while the run is still active', async () => {
    const { get, artifact } = await openWithRun();
    expect(await readJson(get('/v1/runs/r1/files'))).toMatchObject({
      artifacts: [{ path: 'early.txt', change: 'created', size: 5 }],
    });
    expect(await (await artifact('early.txt')).text()).toBe('early');
  });

  it('is empty, and has no sizes, if the run folder is not on this host', async () => {
    const { get, store, artifact } = await openWithRun();
    const otherSpec = sampleSpec({ workdir: '/nowhere/at/all' });
    await store.createRun({ id: 'r2', spec: otherSpec, state: 'running', workerId: 'w1', now: 0 });
    const fileList = await readJson(get('/v1/runs/r2/files'));
    expect(fileList).toEqual({ source: null, evidence: [], artifacts: [], artifacts_left_out: 0 });
    const artifacts = { created: ['x.txt'], modified: [], deleted: [] };
    await store.endRun({ id: 'r2', workerId: 'w1', result: createRunResult({ artifacts }), now: 1 });
    expect(await readJson(get('/v1/runs/r2/files'))).toMatchObject({ artifacts: [{ path: 'x.txt', size: null }] });
    expect(await readJson(get('/v1/runs/r2/artifact?path=x.txt'))).toMatchObject(NOT_FOUND);
    expect(await readJson(artifact('x.txt'))).toMatchObject(NOT_FOUND);
    expect(await readJson(get('/v1/runs/r3/files'))).toMatchObject({ status: 404, code: 'RUN_NOT_FOUND' });
  });

  it('has at most 1,000 artifacts, and counts the rest', async () => {
    const created = Array.from({ length: 1200 }, (_, index) => `f${index}`);
    const { get, end } = await openWithRun({ created, modified: [], deleted: [] });
    await end();
    const { artifacts, artifacts_left_out: leftOut } = await readJson(get('/v1/runs/r1/files'));
    expect([(artifacts as unknown[]).length, leftOut]).toEqual([1000, 200]);
  });
});

describe('a preview', () => {
  it('is plain text that a browser neither renders nor runs', async () => {
    const { artifact, evidence, end } = await openWithRun();
    await end();
    for (const response of [await artifact('out/page.html'), await evidence('stdout.1.log')]) {
      expect(await response.text()).toBe(MALICIOUS_HTML);
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('content-disposition')).toBe('attachment');
      expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
      expect(response.headers.get('x-total-bytes')).toBe(String(MALICIOUS_HTML.length));
    }
  });

  it('is the first MiB of a larger file, and ranges select other parts', async () => {
    const { runFolder, evidence } = await openWithRun();
    const path = join(runFolder, '.audit/stderr.1.log');
    await writeFile(path, 'begin');
    await truncate(path, 3_000_000);
    const response = await evidence('stderr.1.log');
    expect([response.status, response.headers.get('x-total-bytes')]).toEqual([200, '3000000']);
    expect((await response.arrayBuffer()).byteLength).toBe(1024 * 1024);
    const tail = await evidence('stderr.1.log', { range: 'bytes=-10' });
    expect([tail.status, tail.headers.get('content-range')]).toEqual([206, 'bytes 2999990-2999999/3000000']);
    expect(await tail.text()).toBe('\0'.repeat(10));
    const openEnded = await evidence('stderr.1.log', { range: 'bytes=5-' });
    expect(openEnded.headers.get('content-range')).toBe(`bytes 5-${5 + 1024 * 1024 - 1}/3000000`);
    expect((await openEnded.arrayBuffer()).byteLength).toBe(1024 * 1024);
    expect((await evidence('stderr.1.log', { range: 'bytes=4000000-' })).status).toBe(416);
  });

  it.each(['notes.txt', 'gone.log', '../r1/work_order.json', '.audit/stdout.1.log', 'pty-output.1.log', '', '\u0000'])(
    'shows evidence only by name: %j is not found',
    async (name) => {
      const { evidence } = await openWithRun();
      expect(await readJson(evidence(name || ' '))).toMatchObject(NOT_FOUND);
    },
  );

  it.each([
    'secret.txt',
    'old.txt',
    '../elsewhere/secret.txt',
    '/etc/passwd',
    'out',
    'out/../secret.txt',
    './README.md',
  ])('shows only files that the run changed: not %s', async (path) => {
    const { artifact, end } = await openWithRun();
    await end();
    expect(await readJson(artifact(path))).toMatchObject(NOT_FOUND);
  });

  it('shows no file outside the folder, even if a recorded path leads there', async () => {
    const created = ['../elsewhere/secret.txt', '/etc/passwd', 'link.txt', 'way/secret.txt', 'pipe'];
    const { artifact, get, end, folder, work } = await openWithRun({ created, modified: [], deleted: [] });
    await symlink(`${folder}/elsewhere/secret.txt`, join(work, 'link.txt'));
    await symlink(`${folder}/elsewhere`, join(work, 'way'));
    await end();
    for (const path of created) expect(await readJson(artifact(path))).toMatchObject(NOT_FOUND);
    expect(await readJson(get('/v1/runs/r1/files'))).toMatchObject({
      artifacts: [
        { path: 'link.txt', size: null },
        { path: 'way/secret.txt', size: null },
        { path: 'pipe', size: null },
      ],
    });
  });

  it('follows no link that the agent created', async () => {
    const { evidence, get, runFolder, folder } = await openWithRun();
    await rm(join(runFolder, 'work_result.json'));
    await symlink(`${folder}/elsewhere/secret.txt`, join(runFolder, 'work_result.json'));
    expect(await readJson(evidence('work_result.json'))).toMatchObject(NOT_FOUND);
    expect(JSON.stringify(await readJson(get('/v1/runs/r1/files')))).not.toContain('work_result.json');
    await rename(join(runFolder, '.audit'), join(runFolder, 'audit'));
    await symlink(join(runFolder, 'audit'), join(runFolder, '.audit'));
    expect(await readJson(get('/v1/runs/r1/files'))).toMatchObject({ evidence: [] });
  });
});
