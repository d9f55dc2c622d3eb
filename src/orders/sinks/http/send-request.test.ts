import { describe, expect, it } from 'vitest';
import { startFaultyServer } from '../fixtures/faulty-server.js';
import type { Respond } from '../fixtures/faulty-server.js';
import { createFetch, sendRequest } from './send-request.js';

const BOUNDS = { headers: {}, timeoutMs: 500, maxResponseBytes: 1000, allowPrivateAddresses: true };

/** Starts a server that redirects `/moved` and responds to everything else. */
async function startMoved(status: number, location: string) {
  const answer: Respond = ({ url, body }) =>
    url === '/moved' ? { status, body: {}, headers: { location } } : { status: 200, body: { url, body } };
  return startFaultyServer(answer);
}

describe('sendRequest', () => {
  it.each([
    ['GET', 301, 200],
    ['GET', 302, 200],
    ['GET', 307, 200],
    ['POST', 307, 200],
    ['POST', 308, 200],
    ['POST', 301, 301],
    ['POST', 302, 302],
  ] as const)('after %s and %i on the same host ends with %i', async (method, status, final) => {
    const { url, seen } = await startMoved(status, '/here');
    const body = method === 'POST' ? { body: 'text' } : {};
    const answer = await sendRequest({ ...BOUNDS, method, url: `${url}/moved`, ...body });
    expect(answer.status).toBe(final);
    expect(seen.map((request) => request.method)).toEqual(final === 200 ? [method, method] : [method]);
    expect(seen.map((request) => request.body)).toEqual(seen.map(() => body.body ?? ''));
  });

  it.each(['http://127.0.0.1:1/', 'https://example.org/', 'file:///etc/passwd', 'http://['])(
    'does not follow a redirect to %s',
    async (location) => {
      const { url, seen } = await startMoved(307, location);
      expect((await sendRequest({ ...BOUNDS, method: 'GET', url: `${url}/moved` })).status).toBe(307);
      expect(seen).toHaveLength(1);
    },
  );

  it('stops at a redirect loop', async () => {
    const { url, seen } = await startMoved(307, '/moved');
    expect((await sendRequest({ ...BOUNDS, method: 'GET', url: `${url}/moved` })).status).toBe(307);
    expect(seen).toHaveLength(4);
  });

  it('reports an unknown host', async () => {
    const request = { ...BOUNDS, method: 'GET', url: 'http://no-such-host.invalid/' } as const;
    await expect(sendRequest(request)).rejects.toMatchObject({
      code: 'SINK_UNREACHABLE',
      isPermanent: false,
      message: expect.stringMatching(/^Cannot reach "http:\/\/no-such-host\.invalid": [^.]*\.invalid\.$/),
    });
    const restricted = { ...request, allowPrivateAddresses: false };
    await expect(sendRequest(restricted)).rejects.toMatchObject({ code: 'SINK_UNREACHABLE', isPermanent: false });
  });

  it('reports its own timeout, and a shorter timeout set by its caller', async () => {
    const { url, failNext } = await startFaultyServer(() => ({ status: 200, body: {} }));
    const request = { ...BOUNDS, method: 'POST', url, timeoutMs: 50 } as const;
    failNext({ kind: 'silence-after' }, { kind: 'silence-after' });
    await expect(sendRequest(request)).rejects.toMatchObject({
      code: 'SINK_TIMED_OUT',
      message: `No response from "${url}" within 50 ms.`,
    });
    await expect(sendRequest({ ...request, timeoutMs: 5000, signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
      code: 'SINK_TIMED_OUT',
      message: `No response from "${url}" before the caller's timeout.`,
    });
  });

  it('throws the reason of a signal aborted by its caller, before or during the request', async () => {
    const { url, failNext } = await startFaultyServer(() => ({ status: 200, body: {} }));
    const request = { ...BOUNDS, method: 'POST', url } as const;
    await expect(sendRequest({ ...request, signal: AbortSignal.abort('stopped') })).rejects.toBe('stopped');
    const canceled = new AbortController();
    failNext({ kind: 'silence-after' });
    setTimeout(() => canceled.abort(), 20);
    await expect(sendRequest({ ...request, signal: canceled.signal })).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('rejects a response that exceeds the limit', async () => {
    const { url } = await startFaultyServer(() => ({ status: 200, body: 'x'.repeat(2000) }));
    const request = { ...BOUNDS, method: 'GET', url } as const;
    await expect(sendRequest(request)).rejects.toMatchObject({ code: 'SINK_ANSWER_UNREADABLE' });
  });
});

describe('createFetch', () => {
  async function openFetch() {
    const { url, seen } = await startFaultyServer(() => ({ status: 200, body: {} }));
    const limits = { name: 'GitHub', timeoutMs: 500, maxResponseBytes: 1000, clock: () => 0 };
    return { url, seen, fetch: createFetch({ ...limits, signal: new AbortController().signal }) };
  }

  it('sends the method, the headers and the body', async () => {
    const { url, seen, fetch } = await openFetch();
    await fetch(`${url}/path`, { method: 'POST', headers: { 'x-name': 'one', 'x-other': 'two' }, body: 'text' });
    await fetch(new URL(`${url}/path`), { headers: new Headers({ 'x-name': 'three' }) });
    expect(seen.map(({ method, body, headers }) => [method, body, headers['x-name'], headers['x-other']])).toEqual([
      ['POST', 'text', 'one', 'two'],
      ['GET', '', 'three', undefined],
    ]);
  });

  it('refuses another method, and a body that is not a text', async () => {
    const { url, seen, fetch } = await openFetch();
    await expect(fetch(url, { method: 'DELETE' })).rejects.toThrow(TypeError);
    await expect(fetch(url, { method: 'POST', body: new Blob(['x']) })).rejects.toThrow(TypeError);
    expect(seen).toEqual([]);
  });
});
