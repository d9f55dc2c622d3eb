import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { packRunFolder } from '../../runs/run-folder/index.js';
import { runSuite } from '../suite/index.js';
import { openServer } from '../fixtures/open-server.js';
import { startScriptedRun } from '../fixtures/scripted-run.js';

const BYTES = Buffer.from('{"type":"thread.started"}\n\xff\x00\n', 'latin1');

async function openWithFolder(files: Readonly<Record<string, string | Uint8Array>> = { '.audit/stdout.1.log': BYTES }) {
  const server = await openServer();
  const run = await startScriptedRun(server.store, 'run-1');
  const folder = join(server.data, 'runs', 'run-1');
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return { ...server, runFolder: folder, run };
}

describe('the raw bytes of a run', () => {
  it('are unchanged', async () => {
    const { get } = await openWithFolder();
    const response = await get('/v1/runs/run-1/raw/1/stdout');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(BYTES);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('accept-ranges')).toBe('bytes');
  });

  it('are sent in part for a range request', async () => {
    const { get } = await openWithFolder();
    const response = await get('/v1/runs/run-1/raw/1/stdout', { range: 'bytes=2-5' });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes 2-5/${BYTES.length}`);
    expect(await response.text()).toBe('type');
  });

  it('have a length and no body for HEAD', async () => {
    const { request } = await openWithFolder();
    const response = await request('/v1/runs/run-1/raw/1/stdout', { method: 'HEAD' });
    expect(response.headers.get('content-length')).toBe(String(BYTES.length));
    expect(await response.text()).toBe('');
  });

  it('reject a range beyond the end, and report their size', async () => {
    const { get } = await openWithFolder();
    const response = await get('/v1/runs/run-1/raw/1/stdout', { range: 'bytes=4000-' });
    expect(response.status).toBe(416);
    expect(response.headers.get('content-range')).toBe(`bytes */${BYTES.length}`);
    expect(await response.json()).toMatchObject({ code: 'INVALID_RANGE' });
  });

  it('are complete even if there are many', async () => {
    const manyBytes = Buffer.alloc(300_000, 'abc');
    const { get } = await openWithFolder({ '.audit/stderr.12.log': manyBytes });
    const response = await get('/v1/runs/run-1/raw/12/stderr');
    expect(Buffer.from(await response.arrayBuffer()).equals(manyBytes)).toBe(true);
  });

  it.each([
    '/v1/runs/run-1/raw/2/stdout',
    '/v1/runs/run-1/raw/1/pty',
    '/v1/runs/run-1/raw/1/meta',
    '/v1/runs/run-1/raw/0/stdout',
    '/v1/runs/run-1/raw/1e1/stdout',
    '/v1/runs/run-1/raw/1/..%2F..%2F..%2Felsewhere%2Fsecret.txt',
    '/v1/runs/run-1/raw/..%2F1/stdout',
  ])('are not found at %s', async (path) => {
    const { get } = await openWithFolder();
    expect(await (await get(path)).json()).toMatchObject({ status: 404, code: 'FILE_NOT_FOUND' });
  });

  it('are not read through a link that the agent created', async () => {
    const { get, runFolder, folder } = await openWithFolder({ '.audit/meta.1.json': '{}' });
    await symlink(`${folder}/elsewhere/secret.txt`, join(runFolder, '.audit/stdout.1.log'));
    expect((await get('/v1/runs/run-1/raw/1/stdout')).status).toBe(404);
  });

  it('are not read through a linked audit folder', async () => {
    const { get, runFolder, folder } = await openWithFolder({ 'work_order.json': '{}' });
    await mkdir(`${folder}/planted`);
    await writeFile(`${folder}/planted/stdout.1.log`, 'secret');
    await symlink(`${folder}/planted`, join(runFolder, '.audit'));
    expect((await get('/v1/runs/run-1/raw/1/stdout')).status).toBe(404);
  });

  it('are available only for runs in the store', async () => {
    const { get } = await openWithFolder();
    for (const id of ['nobody', '..', '%2e%2e%2fruns%2frun-1']) {
      const response = await get(`/v1/runs/${id}/raw/1/stdout`);
      expect(response.status).toBe(404);
    }
  });
});

describe('a packed run', () => {
  it('has the same raw bytes, ranges, files and export as its folder', async () => {
    const manyBytes = Buffer.alloc(3_000_000, 'abc\n');
    const files = { '.audit/stdout.1.log': BYTES, '.audit/stderr.1.log': manyBytes, 'work_result.json': '{"a":1}' };
    const { get, data } = await openWithFolder(files);
    const read = async () => {
      const parts = await get('/v1/runs/run-1/raw/1/stderr', { range: 'bytes=2000001-2000006' });
      return {
        raw: Buffer.from(await (await get('/v1/runs/run-1/raw/1/stdout')).arrayBuffer()).toString('hex'),
        part: [parts.status, parts.headers.get('content-range'), await parts.text()],
        files: await (await get('/v1/runs/run-1/files')).json(),
        result: await (await get('/v1/runs/run-1/evidence?name=work_result.json')).text(),
        missing: (await get('/v1/runs/run-1/raw/2/stdout')).status,
      };
    };
    const before = await read();
    expect(before.part).toEqual([206, 'bytes 2000001-2000006/3000000', 'bc\nabc']);
    expect(await packRunFolder(data, 'run-1')).toBe('packed');
    expect(await read()).toEqual(before);
    const target = await makeFolder({});
    await writeFile(join(target, 'run.tar'), Buffer.from(await (await get('/v1/runs/run-1/export')).arrayBuffer()));
    await promisify(execFile)('tar', ['-xf', 'run.tar'], { cwd: target });
    for (const [path, content] of Object.entries(files)) {
      expect((await readFile(join(target, 'run-1', path))).equals(Buffer.from(content))).toBe(true);
    }
  });
});

describe('the export of a run', () => {
  it('is an archive from which the folder can be restored', async () => {
    const longName = `${'deep/'.repeat(20)}${'n'.repeat(90)}.txt`;
    const files = {
      '.audit/stdout.1.log': BYTES,
      'work_result.json': '{}',
      [longName]: 'long',
      'naïve 名.txt': 'x',
      empty: '',
    };
    const { get } = await openWithFolder(files);
    const response = await get('/v1/runs/run-1/export');
    expect(response.headers.get('content-type')).toBe('application/x-tar');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="run-1.tar"');
    const target = await makeFolder({});
    await writeFile(join(target, 'run.tar'), Buffer.from(await response.arrayBuffer()));
    await promisify(execFile)('tar', ['-xf', 'run.tar'], { cwd: target });
    for (const [path, content] of Object.entries(files)) {
      expect(await readFile(join(target, 'run-1', path))).toEqual(Buffer.from(content));
    }
  });

  it('stores a file time after the year 2242 in a record, because it is too long for the header', async () => {
    const { get, runFolder } = await openWithFolder({ 'a.txt': 'a' });
    const time = new Date('2300-01-01T00:00:00Z');
    await utimes(join(runFolder, 'a.txt'), time, time);
    const archive = Buffer.from(await (await get('/v1/runs/run-1/export')).arrayBuffer());
    expect(archive.includes(` mtime=${time.getTime() / 1000}\n`)).toBe(true);
    const target = await makeFolder({});
    await writeFile(join(target, 'run.tar'), archive);
    await promisify(execFile)('tar', ['-xf', 'run.tar'], { cwd: target });
    expect((await stat(join(target, 'run-1/a.txt'))).mtime).toEqual(time);
  });

  it('shows the output where it is seen, but replaces no file of the agent', async () => {
    const files = { '.audit/stdout.1.log': BYTES, '.audit/stderr.1.log': 'log', 'log/stderr.1.log': 'of the agent' };
    const { get } = await openWithFolder({ ...files, 'README.md': 'of the agent' });
    const target = await makeFolder({});
    await writeFile(join(target, 'run.tar'), Buffer.from(await (await get('/v1/runs/run-1/export')).arrayBuffer()));
    await promisify(execFile)('tar', ['-xf', 'run.tar'], { cwd: target });
    expect(await readFile(join(target, 'run-1/log/stdout.1.log'))).toEqual(Buffer.from(BYTES));
    for (const name of ['README.md', 'log/stderr.1.log'])
      expect(await readFile(join(target, 'run-1', name), 'utf8')).toBe('of the agent');
  });

  it('skips links', async () => {
    const { get, runFolder, folder } = await openWithFolder({ 'a.txt': 'a' });
    await symlink(`${folder}/elsewhere/secret.txt`, join(runFolder, 'secret.txt'));
    await symlink(`${folder}/elsewhere`, join(runFolder, 'elsewhere'));
    const target = await makeFolder({});
    await writeFile(join(target, 'run.tar'), Buffer.from(await (await get('/v1/runs/run-1/export')).arrayBuffer()));
    await promisify(execFile)('tar', ['-xf', 'run.tar'], { cwd: target });
    expect(await readdir(join(target, 'run-1'))).toEqual(['README.md', 'a.txt']);
  });

  it('stays valid if a file is truncated while it is read', async () => {
    const { get, runFolder } = await openWithFolder({ 'a.log': Buffer.alloc(500_000, 'a'), 'b.log': 'b' });
    const { body } = await get('/v1/runs/run-1/export');
    const parts: Uint8Array[] = [];
    for await (const part of body ?? []) {
      parts.push(part);
      if (parts.length === 3) await truncate(join(runFolder, 'a.log'), 10);
    }
    const target = await makeFolder({});
    await writeFile(join(target, 'run.tar'), Buffer.concat(parts));
    await promisify(execFile)('tar', ['-xf', 'run.tar'], { cwd: target });
    expect(await readFile(join(target, 'run-1/b.log'), 'utf8')).toBe('b');
  });

  it('needs a folder on this host', async () => {
    const { store, get } = await openServer();
    await startScriptedRun(store, 'run-1');
    expect(await (await get('/v1/runs/run-1/export')).json()).toMatchObject({ status: 404, code: 'FILE_NOT_FOUND' });
    expect(await (await get('/v1/runs/run-2/export')).json()).toMatchObject({ status: 404, code: 'RUN_NOT_FOUND' });
  });
});

describe('GET /v1/runs/{id}/report', () => {
  it('returns one HTML file that shows malicious output as text', async () => {
    const { get } = await openWithFolder({ '.audit/stdout.1.log': '<script>alert(1)</script>\n' });
    const response = await get('/v1/runs/run-1/report');
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="run-1.html"');
    const html = await response.text();
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toContain('<script');
    expect(await (await get('/v1/runs/run-2/report')).json()).toMatchObject({ status: 404, code: 'RUN_NOT_FOUND' });
  });
});

describe('GET /v1/runs/{id}/case', () => {
  it('rejects a run that has not ended', async () => {
    const { get } = await openWithFolder();
    expect(await (await get('/v1/runs/run-1/case')).json()).toMatchObject({ status: 409, code: 'RUN_NOT_ENDED' });
  });

  const META = JSON.stringify({ engine: 'codex', verdict: 'limit' });
  it.each<[string, number, Readonly<Record<string, string | Uint8Array>>]>([
    ['output that ends within a line', 200, { '.audit/stdout.1.log': '{"type":"thr', '.audit/meta.1.json': META }],
    ['no output', 200, { '.audit/meta.1.json': META }],
    ['no record of its attempt', 400, { '.audit/stdout.1.log': BYTES.subarray(0, 27) }],
    ['a truncated record of its attempt', 400, { '.audit/stdout.1.log': BYTES, '.audit/meta.1.json': '{"eng' }],
    ['no attempt', 400, { 'a.txt': '' }],
  ])('does not fail for a truncated run: %s', async (_, status, files) => {
    const { get, run } = await openWithFolder(files);
    await run.end();
    const response = await get('/v1/runs/run-1/case');
    expect(response.status).toBe(status);
    const code = status === 200 ? undefined : 'CASE_INVALID';
    expect(JSON.stringify(await response.text()).includes(`${code}`)).toBe(code !== undefined);
  });
});

describe('POST /v1/parse/case', () => {
  it('creates a case that a suite can run', async () => {
    const { post } = await openServer();
    const schema = { type: 'object', required: ['line'] };
    const response = await post('/v1/parse/case', { name: 'from-workbench', text: 'So: {"line": 3,}', schema });
    expect(response.headers.get('content-type')).toBe('application/x-tar');
    const target = await makeFolder({});
    await writeFile(join(target, 'case.tar'), Buffer.from(await response.arrayBuffer()));
    await promisify(execFile)('tar', ['-xf', 'case.tar'], { cwd: target });
    const [report] = await runSuite({ suite: target, clock: Date.now });
    expect(report).toMatchObject({ name: 'from-workbench', status: 'same', decision: { action: 'success' } });
    const refused = await post('/v1/parse/case', { name: 'x', text: '{}', schema: { type: 'nonsense' } });
    expect(await refused.json()).toMatchObject({ status: 400, code: 'INVALID_SCHEMA' });
  });
});
