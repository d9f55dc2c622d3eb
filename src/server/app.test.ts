import { describe, expect, it } from 'vitest';
import { SluiceError } from '../base/index.js';
import { createJsonLogger } from '../base/logger.js';
import { readJson, openServer } from './fixtures/open-server.js';
import { DEFAULT_LIMITS as LIMITS } from './server-settings.js';

const problem = async (response: Response) => ({ status: response.status, code: (await readJson(response))['code'] });

describe('a request', () => {
  it('gets a new request id', async () => {
    const { get } = await openServer();
    const ids = await Promise.all(['/healthz', '/healthz', '/gone'].map(async (path) => get(path)));
    expect(new Set(ids.map((response) => response.headers.get('x-request-id'))).size).toBe(3);
  });

  it('to an unknown path gets a problem', async () => {
    const { get } = await openServer();
    for (const path of ['/v1', '/v1/run', '/v1/runs/a/b', '/v1/runs/', '/%00', '/v1/issues/acme/shop']) {
      expect(await problem(await get(path))).toEqual({ status: 404, code: 'NO_SUCH_PATH' });
    }
  });

  it('with a wrong method gets the allowed methods', async () => {
    const { request } = await openServer();
    const response = await request('/v1/runs', { method: 'DELETE' });
    expect(response.headers.get('allow')).toBe('POST, GET');
    expect(await problem(response)).toEqual({ status: 405, code: 'METHOD_NOT_ALLOWED' });
  });

  it('may be a HEAD request', async () => {
    const { app } = await openServer();
    const response = await app.request('/v1/runs', { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });

  it.each([
    ['not declared as JSON', { 'content-type': 'text/plain' }, '{"text":""}', 415, 'NOT_JSON'],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'text=1', 415, 'NOT_JSON'],
    ['invalid JSON', {}, '{"text":', 400, 'INVALID_BODY'],
    ['empty', {}, '', 400, 'INVALID_BODY'],
    ['of another shape', {}, '{"txt":""}', 400, 'INVALID_BODY'],
    ['a list', {}, '[]', 400, 'INVALID_BODY'],
  ])('whose body is %s is refused', async (_, headers, body, status, code) => {
    const { post } = await openServer();
    expect(await problem(await post('/v1/parse', body, headers))).toEqual({ status, code });
  });

  it('is refused with the location of the error in its body', async () => {
    const { post } = await openServer();
    const response = await post('/v1/parse', { text: 1, profile: 'mine' });
    expect(await readJson(response)).toMatchObject({
      issues: expect.arrayContaining([
        { path: 'text', message: expect.any(String) },
        { path: 'profile', message: expect.any(String) },
      ]),
    });
  });

  it('with too large a body is refused, based on its header or on its bytes', async () => {
    const { post, request } = await openServer({ settings: { limits: { ...LIMITS, bodyBytes: 100 } } });
    const largeBody = { text: 'x'.repeat(101) };
    const declaredLength = { 'content-length': '5000' };
    expect(await problem(await post('/v1/parse', largeBody, declaredLength))).toEqual({
      status: 413,
      code: 'BODY_TOO_LARGE',
    });
    const chunks = new Blob([JSON.stringify(largeBody)]).stream();
    const streamedResponse = await request('/v1/parse', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: chunks,
      duplex: 'half',
    } as RequestInit);
    expect(await problem(streamedResponse)).toEqual({ status: 413, code: 'BODY_TOO_LARGE' });
  });

  it.each([
    ['an unknown parameter', '/v1/runs?lmit=1'],
    ['an invalid number', '/v1/runs?limit=ten'],
    ['a hexadecimal number', '/v1/runs?limit=0x10'],
    ['a number out of range', '/v1/runs?limit=501'],
    ['an unknown value', '/v1/runs?state=asleep'],
    ['an invalid date', '/v1/executions?since=yesterday'],
  ])('with %s in its query is refused', async (_, path) => {
    const { get } = await openServer();
    expect(await problem(await get(path))).toEqual({ status: 400, code: 'INVALID_QUERY' });
  });

  it('with an unknown parameter gets the list of known parameters', async () => {
    const { get } = await openServer();
    const { detail } = await readJson(get('/v1/outbox?page=2'));
    expect(detail).toBe('Unknown parameter "page". Use limit, cursor, state, issue_ref.');
  });

  it('that takes too long is refused with a timeout', async () => {
    const { get, store } = await openServer({ settings: { limits: { ...LIMITS, requestMs: 20 } } });
    const never = Promise.race<never>([]);
    store.listRuns = async () => never;
    expect(await problem(await get('/v1/runs'))).toEqual({ status: 503, code: 'REQUEST_TIMED_OUT' });
  });

  it('above the concurrency limit is refused until another request has ended', async () => {
    const { get, store } = await openServer({ settings: { limits: { ...LIMITS, requestsAtOnce: 1 } } });
    let finish = (): void => undefined;
    store.findRun = async () =>
      new Promise((resolve) => {
        finish = () => resolve(undefined);
      });
    const first = get('/v1/runs/1');
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    const second = await get('/v1/runs');
    expect(second.headers.get('retry-after')).toBe('5');
    expect(await problem(second)).toEqual({ status: 503, code: 'SERVER_BUSY' });
    finish();
    expect((await first).status).toBe(404);
    expect((await get('/v1/runs')).status).toBe(200);
  });
});

describe('an internal error', () => {
  it('is logged with the request id, and its details are not sent to the caller', async () => {
    const lines: string[] = [];
    const { get, store } = await openServer({ logger: createJsonLogger((line) => lines.push(line)) });
    store.listRuns = async () => {
      throw new Error('password=hunter2');
    };
    const response = await get('/v1/runs');
    const body = await readJson(response);
    expect(body).toMatchObject({ status: 500, code: 'INTERNAL_ERROR' });
    expect(JSON.stringify(body)).not.toContain('hunter2');
    const line = JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>;
    expect(line).toMatchObject({ level: 'error', request_id: body['request_id'], endpoint: 'listRuns', status: 500 });
    expect(line['error']).toMatchObject({ message: 'password=hunter2' });
  });

  it('has a specific code if the store cannot be reached, and the reason is logged', async () => {
    const lines: string[] = [];
    const { get, store } = await openServer({ logger: createJsonLogger((line) => lines.push(line)) });
    await store.close();
    const response = await get('/v1/runs');
    expect(await problem(response)).toEqual({ status: 503, code: 'STORE_CLOSED' });
    expect(await problem(await get('/readyz'))).toEqual({ status: 503, code: 'NOT_READY' });
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ error: { cause: { code: 'STORE_CLOSED' } } });
    expect((await get('/healthz')).status).toBe(200);
  });

  it('does not expose its details even if it has an unexpected code', async () => {
    const { get, store } = await openServer();
    store.listRuns = async () => {
      throw new SluiceError('constructor', 'hunter2');
    };
    expect(await readJson(get('/v1/runs'))).toMatchObject({ status: 500, code: 'INTERNAL_ERROR' });
  });
});

describe('the log', () => {
  it('has a line for each refused request, without query, body or headers', async () => {
    const lines: string[] = [];
    const { get } = await openServer({ logger: createJsonLogger((line) => lines.push(line)) });
    await get('/v1/runs?state=hunter2', { authorization: 'Bearer hunter2', cookie: 'a=hunter2' });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      message: 'request refused',
      status: 400,
      error: 'INVALID_QUERY',
    });
    expect(lines.join('')).not.toContain('hunter2');
  });

  it('has a short line for at most sixty requests a minute that were refused before sign-in', async () => {
    const lines: string[] = [];
    const tokens = [{ name: 'ada', scopes: ['read'], value: 'ada-ada-ada-ada-ada' }] as const;
    let now = 0;
    const { get } = await openServer({
      settings: { tokens },
      clock: () => now,
      logger: createJsonLogger((line) => lines.push(line)),
    });
    for (let count = 0; count < 500; count += 1) await get('/v1/runs', { authorization: 'Bearer guessed' });
    expect(lines).toHaveLength(60);
    expect(lines.every((line) => line.length < 300 && !line.includes('stack'))).toBe(true);
    now += 60_000;
    await get('/v1/runs');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ message: 'request refused', omitted: 440 });
  });

  it.each([
    ['an invalid body', { token: 1 }, 400],
    ['a wrong token', { token: 'guessed' }, 401],
  ])('has a line for at most sixty requests a minute that fail to sign in with %s', async (_, body, status) => {
    const lines: string[] = [];
    const tokens = [{ name: 'ada', scopes: ['read'], value: 'ada-ada-ada-ada-ada' }] as const;
    const logger = createJsonLogger((line) => lines.push(line));
    const { post } = await openServer({ settings: { tokens }, clock: () => 0, logger });
    const first = await post('/v1/session', body);
    expect(first.status).toBe(status);
    for (let count = 0; count < 200; count += 1) await post('/v1/session', body);
    expect(lines).toHaveLength(60);
  });

  it('has a line for each successful request only at level debug', async () => {
    const lines: string[] = [];
    const { get } = await openServer({ logger: createJsonLogger((line) => lines.push(line), { level: 'debug' }) });
    await get('/v1/runs');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ level: 'debug', endpoint: 'listRuns', caller: 'local' });
  });
});

describe('the meter', () => {
  it('records every response', async () => {
    const handledRequests: unknown[] = [];
    const meter = {
      countParse: () => undefined,
      countRequest: (request: unknown) => handledRequests.push(request),
      render: async () => '',
    };
    const { get } = await openServer({ meter });
    await get('/v1/runs');
    await get('/v1/runs?limit=x');
    expect(handledRequests).toEqual([
      { endpoint: 'listRuns', status: 200, ms: expect.any(Number) },
      { endpoint: 'listRuns', status: 400, ms: expect.any(Number) },
    ]);
  });
});

describe('a server that shuts down', () => {
  it('refuses new work with a reason, and still serves read requests', async () => {
    const { get, post, work, drain } = await openServer();
    expect((await get('/readyz')).status).toBe(200);
    drain();
    const spec = { engine: 'codex', prompt: 'x', workdir: work };
    expect(await problem(await post('/v1/runs', spec))).toEqual({ status: 503, code: 'SHUTTING_DOWN' });
    expect(await problem(await get('/readyz'))).toEqual({ status: 503, code: 'SHUTTING_DOWN' });
    expect((await get('/v1/runs')).status).toBe(200);
    expect((await get('/healthz')).status).toBe(200);
  });

  it('closes its streams', async () => {
    const { context, end } = await openServer();
    expect(context.shutdownSignal.aborted).toBe(false);
    end();
    expect(context.shutdownSignal.aborted).toBe(true);
  });
});
