import { describe, expect, it } from 'vitest';
import { readJson, openServer } from '../fixtures/open-server.js';
import { DEFAULT_LIMITS } from '../server-settings.js';

const tokens = [
  { name: 'ada', scopes: ['read', 'run', 'decide'], value: 'ada-value' },
  { name: 'bob', scopes: ['read'], value: 'bob-value' },
  { name: 'eve', scopes: [], value: 'eve-value' },
] as const;
const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
const withTokens = async (settings = {}) => openServer({ settings: { tokens, ...settings } });
const problem = async (response: Response) => ({ status: response.status, code: (await readJson(response))['code'] });

describe('on loopback with the user token', () => {
  const value = 'the-generated-token-of-this-user';
  const allScopes = ['read', 'run', 'decide'] as const;
  const openLocalServer = async () =>
    openServer({ settings: { tokens: [{ name: 'local', scopes: allScopes, value }], openRead: true } });
  const rejection = { action: 'reject', why: 'x' };

  it('reading needs no token, running and deciding do', async () => {
    const { get, post, work } = await openLocalServer();
    expect((await get('/v1/runs')).status).toBe(200);
    expect((await post('/v1/parse', { text: '{a: 1}' })).status).toBe(200);
    expect(await readJson(get('/v1/session'))).toEqual({ name: 'anonymous', scopes: ['read'], needs_token: true });
    const refused = { status: 401, code: 'TOKEN_REFUSED' };
    const run = { engine: 'codex', prompt: 'x', workdir: work };
    expect(await problem(await post('/v1/runs', run))).toEqual(refused);
    expect(await problem(await post('/v1/inbox/1/resolve', rejection))).toEqual(refused);
    expect(await problem(await post('/v1/runs', run, bearer('wrong')))).toEqual(refused);
    expect((await post('/v1/runs', run, bearer(value))).status).toBe(201);
    expect((await post('/v1/inbox/1/resolve', rejection, bearer(value))).status).toBe(404);
    expect(await readJson(get('/v1/session', bearer(value)))).toMatchObject({ name: 'local', scopes: allScopes });
  });

  it('a page that signed in with it may do everything the user may', async () => {
    const { post } = await openLocalServer();
    const cookie = (await post('/v1/session', { token: value })).headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await post('/v1/inbox/1/resolve', rejection, { cookie })).status).toBe(404);
    expect((await post('/v1/inbox/1/resolve', rejection, { cookie, origin: 'https://evil.example' })).status).toBe(403);
  });

  it('a user who decides may choose any name, because the token belongs to the local user', async () => {
    const { post } = await openLocalServer();
    const response = await post('/v1/inbox/1/resolve', { ...rejection, who: 'Ada' }, bearer(value));
    expect(await problem(response)).toMatchObject({ status: 404 });
  });

  it('a page of another site may not read', async () => {
    const { get } = await openLocalServer();
    expect((await get('/v1/runs', { origin: 'https://evil.example' })).status).toBe(403);
  });

  it('an address other than loopback is refused', async () => {
    const settings = { tokens: [{ name: 'local', scopes: allScopes, value }], openRead: true };
    await expect(openServer({ host: '0.0.0.0', settings })).rejects.toMatchObject({ code: 'TOKENS_NEEDED' });
  });

  it('is replaced without a restart: the old token and its sessions become invalid', async () => {
    const { get, post, replaceTokens } = await openLocalServer();
    const cookie = (await post('/v1/session', { token: value })).headers.get('set-cookie')?.split(';')[0] ?? '';
    replaceTokens({
      tokens: [{ name: 'local', scopes: allScopes, value: 'another-token-of-this-user' }],
      openRead: true,
    });
    expect((await get('/v1/session', bearer(value))).status).toBe(401);
    expect(await readJson(get('/v1/session', { cookie }))).toMatchObject({ name: 'anonymous' });
    expect(await readJson(get('/v1/session', bearer('another-token-of-this-user')))).toMatchObject({ name: 'local' });
    replaceTokens({ tokens: [] });
    expect((await post('/v1/inbox/1/resolve', rejection)).status).toBe(401);
  });

  it('requires a token to read, and no longer lets callers choose a name, once tokens are configured', async () => {
    const { get, post, replaceTokens } = await openLocalServer();
    const ada = { name: 'ada', scopes: allScopes, value: 'the-configured-token-of-ada' };
    replaceTokens({ tokens: [ada] });
    expect(await problem(await get('/v1/runs'))).toEqual({ status: 401, code: 'TOKEN_REFUSED' });
    expect((await get('/v1/runs', bearer(ada.value))).status).toBe(200);
    const response = await post('/v1/inbox/1/resolve', { ...rejection, who: 'Eve' }, bearer(ada.value));
    expect(await problem(response)).toMatchObject({ status: 400, code: 'INVALID_BODY' });
  });
});

describe('on loopback without tokens', () => {
  it('every caller on this host has all scopes', async () => {
    const { get, post } = await openServer();
    expect((await get('/v1/runs')).status).toBe(200);
    expect(await readJson(get('/v1/session'))).toEqual({
      name: 'local',
      scopes: ['read', 'run', 'decide'],
      needs_token: false,
    });
    expect(await problem(await post('/v1/inbox/1/resolve', { action: 'reject', why: 'x' }))).toMatchObject({
      status: 404,
    });
  });

  it.each(['evil.example', 'evil.example:7171', '127.0.0.1.evil.example', 'localhost.evil.example', '10.0.0.1'])(
    'a page that reaches the server under the name %s is refused',
    async (host) => {
      const { get, request } = await openServer();
      for (const path of ['/v1/runs', '/healthz', '/docs', '/openapi.json', '/']) {
        expect(await problem(await get(path, { host }))).toEqual({ status: 421, code: 'HOST_REFUSED' });
      }
      for (const [method, path] of [
        ['GET', '/v1/unknown'],
        ['DELETE', '/v1/runs'],
        ['OPTIONS', '/v1/runs'],
        ['OPTIONS', '/unknown'],
      ] as const) {
        const response = await request(path, { method, headers: { host } });
        expect(await problem(response)).toEqual({ status: 421, code: 'HOST_REFUSED' });
      }
    },
  );

  it.each(['localhost', 'LOCALHOST:7171', '127.0.0.1:80', '[::1]:7171', 'sluice.test:7171'])(
    'the server accepts the name %s',
    async (host) => {
      const { get } = await openServer({ settings: { hosts: ['Sluice.test'] } });
      expect((await get('/v1/runs', { host })).status).toBe(200);
    },
  );

  it('a page of another site may neither read nor change anything', async () => {
    const { get, post } = await openServer();
    const crossSiteHeaders = [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
    ];
    for (const headers of crossSiteHeaders) {
      const refused = { status: 403, code: 'ORIGIN_REFUSED' };
      expect(await problem(await get('/v1/runs', headers))).toEqual(refused);
      expect(await problem(await post('/v1/parse', { text: '{}' }, headers))).toEqual(refused);
      expect(await problem(await post('/v1/runs/1/cancel', undefined, headers))).toEqual(refused);
      expect(await problem(await post('/v1/session', { token: 'x' }, headers))).toEqual(refused);
    }
  });

  it('a page of this server may read and post', async () => {
    const { get, post } = await openServer();
    const sameOriginHeaders = {
      host: 'localhost:7171',
      origin: 'http://localhost:7171',
      'sec-fetch-site': 'same-origin',
    };
    expect((await get('/v1/runs', sameOriginHeaders)).status).toBe(200);
    expect((await post('/v1/parse', { text: '{}' }, sameOriginHeaders)).status).toBe(200);
  });
});

describe('with tokens', () => {
  it('a caller without one may only check that the server is alive', async () => {
    const { get, post } = await withTokens();
    expect((await get('/healthz')).status).toBe(200);
    expect((await get('/readyz')).status).toBe(200);
    expect(await readJson(get('/v1/session'))).toEqual({ name: 'anonymous', scopes: [], needs_token: true });
    const response = await get('/v1/runs');
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(await problem(response)).toEqual({ status: 401, code: 'TOKEN_REFUSED' });
    expect(await problem(await post('/v1/parse', { text: '{}' }))).toMatchObject({ status: 401 });
    expect(await problem(await get('/metrics'))).toMatchObject({ status: 401 });
  });

  it.each(['Bearer wrong', 'Bearer ', 'Bearer ada-value x', 'Basic YTpi', 'ada-value', 'Bearer ADA-VALUE'])(
    '%j is refused',
    async (authorization) => {
      const { get } = await withTokens();
      expect(await problem(await get('/v1/runs', { authorization }))).toEqual({ status: 401, code: 'TOKEN_REFUSED' });
      expect(await problem(await get('/healthz', { authorization }))).toMatchObject({ status: 401 });
    },
  );

  it('a token grants only its scopes', async () => {
    const { get, post, work } = await withTokens();
    const spec = { engine: 'codex', prompt: 'x', workdir: work };
    const resolve = { action: 'reject', why: 'x' };
    expect((await get('/v1/runs', bearer('bob-value'))).status).toBe(200);
    expect((await post('/v1/runs', spec, bearer('ada-value'))).status).toBe(201);
    const missing = { status: 403, code: 'SCOPE_MISSING' };
    expect(await problem(await post('/v1/runs', spec, bearer('bob-value')))).toEqual(missing);
    expect(await problem(await post('/v1/inbox/1/resolve', resolve, bearer('bob-value')))).toEqual(missing);
    expect(await problem(await get('/v1/runs', bearer('eve-value')))).toEqual(missing);
  });

  it('a token can be exchanged for a session cookie', async () => {
    const { get, post } = await withTokens();
    const opened = await post('/v1/session', { token: 'bob-value' });
    expect(await readJson(opened.clone())).toEqual({ name: 'bob', scopes: ['read'], needs_token: true });
    const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    expect((await get('/v1/runs', { cookie })).status).toBe(200);
    expect(await problem(await post('/v1/runs/1/cancel', undefined, { cookie }))).toMatchObject({
      code: 'SCOPE_MISSING',
    });
    const closed = await post('/v1/session/close', undefined, { cookie });
    expect(closed.headers.get('set-cookie')).toMatch(/Max-Age=0/);
  });

  it('a wrong token gets no cookie', async () => {
    const { post } = await withTokens();
    const response = await post('/v1/session', { token: 'wrong' });
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(await problem(response)).toEqual({ status: 401, code: 'TOKEN_REFUSED' });
  });

  it('a cookie on a cross-site request is refused', async () => {
    const { get, post } = await withTokens();
    const opened = await post('/v1/session', { token: 'ada-value' });
    const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const crossSiteHeaders = { cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect(await problem(await get('/v1/runs', crossSiteHeaders))).toEqual({ status: 403, code: 'ORIGIN_REFUSED' });
    const otherPortHeaders = { cookie, origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' };
    expect(await problem(await post('/v1/runs/1/cancel', undefined, otherPortHeaders))).toMatchObject({
      code: 'ORIGIN_REFUSED',
    });
  });

  it('a forged cookie is refused', async () => {
    const { get } = await withTokens();
    const cookie = `sluice_session=${Buffer.from('ada').toString('base64url')}.99999999999999.${'A'.repeat(43)}`;
    expect(await problem(await get('/v1/runs', { cookie }))).toEqual({ status: 401, code: 'TOKEN_REFUSED' });
  });

  it('guessing is limited, and a valid token still works', async () => {
    const { get } = await withTokens({ limits: { ...DEFAULT_LIMITS, refusalsPerMinute: 3 } });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect((await get('/v1/runs', bearer(`guess-${attempt}`))).status).toBe(401);
    }
    const response = await get('/v1/runs', bearer('another-guess'));
    expect(response.headers.get('retry-after')).toBe('60');
    expect(await problem(response)).toEqual({ status: 429, code: 'TOO_MANY_REQUESTS' });
    expect((await get('/v1/runs', bearer('ada-value'))).status).toBe(200);
  });

  it('each token has a separate rate limit', async () => {
    const { get } = await withTokens({ limits: { ...DEFAULT_LIMITS, requestsPerMinute: 2 } });
    const ask = async (value: string) => (await get('/v1/runs', bearer(value))).status;
    expect([await ask('ada-value'), await ask('ada-value'), await ask('ada-value')]).toEqual([200, 200, 429]);
    expect(await ask('bob-value')).toBe(200);
  });
});

describe('an address other than loopback', () => {
  it('is refused without tokens', async () => {
    for (const host of ['0.0.0.0', '::', '192.168.1.2', 'example.org']) {
      await expect(openServer({ host })).rejects.toMatchObject({ code: 'TOKENS_NEEDED' });
    }
  });

  it('accepts any host name, or only the configured ones', async () => {
    const openToAllHosts = await openServer({ host: '0.0.0.0', settings: { tokens } });
    expect((await openToAllHosts.get('/v1/runs', { host: 'build.example.org', ...bearer('ada-value') })).status).toBe(
      200,
    );
    const namedHosts = await openServer({ host: '0.0.0.0', settings: { tokens, hosts: ['build.example.org'] } });
    expect((await namedHosts.get('/v1/runs', { host: 'build.example.org:80', ...bearer('ada-value') })).status).toBe(
      200,
    );
    expect(await problem(await namedHosts.get('/v1/runs', { host: 'other', ...bearer('ada-value') }))).toMatchObject({
      code: 'HOST_REFUSED',
    });
  });

  it.each([
    ['192.168.1.2', '192.168.1.2:7171'],
    ['2001:db8::2', '[2001:db8::2]:7171'],
    ['Build', 'build'],
  ])('%s is accepted besides the configured names', async (host, header) => {
    const { get } = await openServer({ host, settings: { tokens, hosts: ['build.example.org'] } });
    expect((await get('/v1/runs', { host: header, ...bearer('ada-value') })).status).toBe(200);
  });
});

describe('pages of other sites', () => {
  const ask = { origin: 'https://console.example.org', 'access-control-request-method': 'POST' };

  it('are granted nothing by default', async () => {
    const { request, get } = await withTokens();
    const preflight = await request('/v1/parse', { method: 'OPTIONS', headers: ask });
    expect(preflight.status).toBe(204);
    const response = await get('/v1/runs', { ...bearer('ada-value'), origin: ask.origin });
    for (const { headers } of [preflight, response]) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('may call with a token if the configuration names them, and never with a cookie', async () => {
    const { request, get, post } = await withTokens({ origins: [ask.origin] });
    const preflight = await request('/v1/parse', { method: 'OPTIONS', headers: ask });
    expect(preflight.headers.get('access-control-allow-origin')).toBe(ask.origin);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization');
    const response = await get('/v1/runs', { ...bearer('ada-value'), origin: ask.origin });
    expect(response.headers.get('access-control-allow-origin')).toBe(ask.origin);
    expect(response.headers.get('vary')).toMatch(/^origin$/i);
    for (const { headers } of [preflight, response]) expect(headers.get('access-control-allow-credentials')).toBeNull();
    const other = await get('/v1/runs', { ...bearer('ada-value'), origin: 'https://evil.example' });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
    expect((await post('/v1/parse', { text: '{}' }, { ...bearer('ada-value'), origin: ask.origin })).status).toBe(200);
  });
});

describe('every page', () => {
  it('also has the headers for older browsers', async () => {
    const { get } = await openServer();
    const { headers } = await get('/docs');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  });
});

describe('every response', () => {
  it('forbids browsers from running, framing, sniffing or caching it', async () => {
    const { get } = await openServer();
    for (const path of ['/v1/runs', '/gone', '/openapi.json', '/docs']) {
      const { headers } = await get(path);
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'.*frame-ancestors 'none'$/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }
  });
});
