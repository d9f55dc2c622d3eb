import { symlink } from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { PAGE_NAMES } from '../../../web/app/route.js';
import { openServer } from '../fixtures/open-server.js';
import { chooseEncoding } from '../http/responses.js';
import { readConsole } from './console.js';

const HTML = '<!doctype html><script type="module" src="/assets/index-a1.js"></script>';
const SCRIPT = 'export const x = 1;\n'.repeat(200);
const FILES = {
  'index.html': HTML,
  'assets/index-a1.js': SCRIPT,
  'assets/index-b2.css': ':root {}',
  'favicon.svg': '<svg/>',
  'odd.bin': 'x',
};

async function openConsole(files: Readonly<Record<string, string>> = FILES) {
  const web = await makeFolder(files);
  const tokens = [{ name: 'ada', scopes: ['read'], value: 'x' }] as const;
  return openServer({ web, settings: { tokens } });
}

describe('the console pages', () => {
  it.each([
    '/',
    ...PAGE_NAMES.map((name) => `/${name}`),
    '/runs/01J0000000000000000000000',
    '/inbox/a',
    '/issues/acme%2Fshop%2312',
  ])('%s is a single document that needs no token', async (path) => {
    const { get } = await openConsole();
    const response = await get(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await response.text()).toBe(HTML);
  });

  it('load scripts and styles only from the console', async () => {
    const { get } = await openConsole();
    const { headers } = await get('/runs');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; " +
        "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
        "require-trusted-types-for 'script'; trusted-types sluice-worker",
    );
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('are revalidated each time, and sent again only if they have changed', async () => {
    const { get } = await openConsole();
    const { headers } = await get('/');
    expect(headers.get('cache-control')).toBe('no-cache');
    const tag = headers.get('etag') ?? '';
    const revalidated = await get('/inbox', { 'if-none-match': `"other", ${tag}` });
    expect([revalidated.status, await revalidated.text()]).toEqual([304, '']);
    expect((await get('/inbox', { 'if-none-match': 'W/"other"' })).status).toBe(200);
  });

  it('do not replace the endpoints', async () => {
    const { get } = await openConsole();
    expect((await get('/v1/runs')).status).toBe(401);
    expect((await get('/healthz')).headers.get('content-type')).toBe('application/json');
    expect((await get('/docs')).status).toBe(200);
    expect((await get('/nothing')).headers.get('content-type')).toContain('json');
  });

  it('include a page for unknown paths, for browsers only', async () => {
    const { app } = await openConsole();
    const browserHeaders = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const page = await app.request('/nothing-here', { headers: browserHeaders });
    expect([page.status, page.headers.get('content-type'), await page.text()]).toEqual([
      404,
      'text/html; charset=utf-8',
      HTML,
    ]);
    for (const path of ['/v1/nothing', '/v1', '/assets/gone.js', '/gone.svg']) {
      const response = await app.request(path, { headers: browserHeaders });
      expect([path, response.status, response.headers.get('content-type')]).toEqual([
        path,
        404,
        'application/problem+json',
      ]);
    }
  });

  it('are refused under a host name that is not the server’s', async () => {
    const { get } = await openConsole();
    expect((await get('/', { host: 'evil.example' })).status).toBe(421);
  });
});

describe('the console files', () => {
  it('are cached forever if their name contains a hash of their content', async () => {
    const { get } = await openConsole();
    const { headers } = await get('/assets/index-a1.js');
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect((await get('/assets/index-b2.css')).headers.get('content-type')).toBe('text/css; charset=utf-8');
    const { headers: icon } = await get('/favicon.svg');
    expect([icon.get('content-type'), icon.get('cache-control')]).toEqual(['image/svg+xml', 'no-cache']);
    expect((await get('/odd.bin')).headers.get('content-type')).toBe('application/octet-stream');
  });

  it('are sent compressed to clients that accept it', async () => {
    const { get } = await openConsole();
    const getScript = async (accepted: string) => get('/assets/index-a1.js', { 'accept-encoding': accepted });
    const brotli = await getScript('gzip, deflate, br');
    expect([brotli.headers.get('content-encoding'), brotli.headers.get('vary')]).toEqual(['br', 'accept-encoding']);
    const bytes = Buffer.from(await brotli.arrayBuffer());
    expect(bytes.length).toBeLessThan(SCRIPT.length / 10);
    expect(brotli.headers.get('content-length')).toBe(String(bytes.length));
    expect(brotliDecompressSync(bytes).toString()).toBe(SCRIPT);
    expect(gunzipSync(Buffer.from(await (await getScript('gzip')).arrayBuffer())).toString()).toBe(SCRIPT);
    const uncompressed = await getScript('identity');
    expect([uncompressed.headers.get('content-encoding'), await uncompressed.text()]).toEqual([null, SCRIPT]);
  });

  it.each([
    '/assets/../../elsewhere/secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/assets/%2e%2e/index.html',
    '/assets/',
    '/assets/gone.js',
    '/index.html',
  ])('are served only from the console folder: %s is not found', async (path) => {
    const { app } = await openConsole();
    const response = await app.request(path);
    expect(response.status).toBe(404);
  });

  it('are never links', async () => {
    const web = await makeFolder(FILES);
    await symlink('/etc/hostname', `${web}/assets/link.js`);
    expect([...(readConsole(web)?.keys() ?? [])].toSorted()).toEqual(
      Object.keys(FILES)
        .map((name) => `/${name}`)
        .toSorted(),
    );
  });
});

describe('without a built console', () => {
  it.each([
    ['no folder', {}],
    ['a folder without a page', { 'assets/a.js': '' }],
  ])('%s: the root path redirects to the API description', async (_, files) => {
    const { get } = await openConsole(files);
    const response = await get('/');
    expect([response.status, response.headers.get('location')]).toEqual([302, '/docs']);
  });

  it('the folder can be missing', () => {
    expect(readConsole('/nowhere/at/all')).toBeUndefined();
  });

  it('a folder that is too large is refused', async () => {
    const tooManyFiles = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`${index}.js`, '']));
    const web = await makeFolder(tooManyFiles);
    expect(() => readConsole(web)).toThrow('Build the package again');
  });
});

it.each([
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['GZIP;q=0.5, BR', 'br'],
  ['br;q=0, gzip;q=1.0', 'gzip'],
  ['br; q=0.0', 'identity'],
  ['*', 'identity'],
])('the encoding for %s is %s', (accepted, encoding) => {
  expect(chooseEncoding(accepted)).toBe(encoding);
});
