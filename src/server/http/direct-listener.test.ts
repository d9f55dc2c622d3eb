import { request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openListeningServer } from '../fixtures/open-listening-server.js';
import { DEFAULT_LIMITS } from '../server-settings.js';
import { createDirectListener } from './direct-listener.js';
import type { DirectRoute } from './direct-listener.js';

const token = 'ada-ada-ada-ada-ada';
const tokens = [
  { name: 'ada', scopes: ['read', 'run'], value: token },
  { name: 'bob', scopes: ['read'], value: 'bob-bob-bob-bob-bob' },
] as const;

interface Received {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Sends a request; returns its response without the date and with the request id replaced. */
async function send(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<Received> {
  const sent = request(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } });
  sent.setHeader('content-length', Buffer.byteLength(body));
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  const { date: _, 'x-request-id': id, ...others } = response.headers;
  return { status: response.statusCode, headers: others, body: text.replaceAll(String(id), 'ID') };
}

const authorization = `Bearer ${token}`;

describe('a short request to a direct route', () => {
  it.each([
    ['valid JSON', '{"text":"{\\"a\\":1}"}', { authorization }],
    ['valid JSON between spaces', '{"text":" [1] "}', { authorization }],
    ['a number that is not exact', '{"text":"12345678901234567890"}', { authorization }],
    ['multi-byte characters', '{"text":"[\\"é 漢 😀\\"]"}', { authorization }],
    ['JSON to repair', '{"text":"Here: {a: 1,}"}', { authorization }],
    ['a schema', '{"text":"{}","schema":{"required":["a"]}}', { authorization }],
    ['a byte order mark', '\uFEFF{"text":"{}"}', { authorization }],
    ['no JSON', '{"text":"none"}', { authorization }],
    ['an invalid body', '{"text":', { authorization }],
    ['a field of the wrong type', '{"text":1}', { authorization }],
    ['another content type', '{"text":"{}"}', { authorization, 'content-type': 'text/plain' }],
    ['no token', '{"text":"{}"}', {}],
    ['an invalid token', '{"text":"{}"}', { authorization: 'Bearer other' }],
    ['a token without the scope', '{"text":"{}"}', { authorization: 'Bearer bob-bob-bob-bob-bob' }],
    ['the name of another host', '{"text":"{}"}', { authorization, host: 'example.com' }],
    ['an invalid host', '{"text":"{}"}', { authorization, host: 'a b' }],
  ])('has the same response as through hono: %s', async (_, body, headers) => {
    const { url, directRoutes } = await openListeningServer({ settings: { tokens } });
    expect(directRoutes).toMatchObject([{ method: 'POST', path: '/v1/parse' }]);
    const direct = await send(`${url}/v1/parse`, body, headers);
    // A request with a query, even an empty one, goes through hono.
    expect(await send(`${url}/v1/parse?`, body, headers)).toEqual(direct);
  });

  it('counts against the rate limit', async () => {
    const { url } = await openListeningServer({ settings: { limits: { ...DEFAULT_LIMITS, requestsPerMinute: 1 } } });
    expect(await send(`${url}/v1/parse`, '{"text":"{}"}', {})).toMatchObject({ status: 200 });
    const refused = await send(`${url}/v1/parse`, '{"text":"{}"}', {});
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
  });

  it('has its connection closed if it was refused and its body does not arrive', async () => {
    const { url } = await openListeningServer({ settings: { tokens } });
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    socket.write(
      `POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    let received = '';
    for await (const chunk of socket.setEncoding('utf8')) received += String(chunk);
    expect(received).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('is counted as refused if its client disconnects', async () => {
    const { url, meter } = await openWithMeter();
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
      () => socket.destroy(),
    );
    expect(await meter.first).toMatchObject({ endpoint: 'parse', status: 400 });
    expect(await send(`${url}/v1/parse`, '{"text":"{}"}', {})).toMatchObject({ status: 200 });
  });

  it('goes through hono if pages of other origins may read responses', async () => {
    const { directRoutes } = await openListeningServer({ settings: { origins: ['https://console.example'] } });
    expect(directRoutes).toEqual([]);
  });
});

describe('the direct listener', () => {
  const route: DirectRoute = {
    method: 'POST',
    path: '/v1/parse',
    respondWithPlain: async ({ req }) => new Response(`${req.method} ${req.url} ${req.header('host') ?? ''}`),
  };
  const plain = { method: 'POST', url: '/v1/parse', headers: { host: 'localhost:1', 'content-length': '9' } };

  it.each([
    ['another path', { url: '/v1/parse/' }],
    ['a query', { url: '/v1/parse?a=1' }],
    ['another method', { method: 'GET' }],
    ['no length', { headers: { host: 'localhost:1' } }],
    ['a long body', { headers: { host: 'localhost:1', 'content-length': '16385' } }],
    ['no host', { headers: { 'content-length': '9' } }],
    ['an unusual host', { headers: { host: '[::1]:1', 'content-length': '9' } }],
  ])('passes other requests to hono: %s', async (_, change) => {
    const incoming = { ...plain, ...change } as unknown as IncomingMessage;
    const isForwarded = await new Promise((resolve) => {
      createDirectListener([route], () => resolve(true))(incoming, {} as ServerResponse);
    });
    expect(isForwarded).toBe(true);
  });

  it('closes the connection if a response cannot be written', async () => {
    const incoming = { ...plain, complete: true } as unknown as IncomingMessage;
    const isClosed = await new Promise((resolve) => {
      const outgoing = {
        writeHead() {
          throw new Error('invalid header');
        },
        destroy: () => resolve(true),
      };
      createDirectListener([route], () => resolve(false))(incoming, outgoing as unknown as ServerResponse);
    });
    expect(isClosed).toBe(true);
  });

  it('sends a response object that a handler returned', async () => {
    const incoming = { ...plain, complete: true } as unknown as IncomingMessage;
    const response = await new Promise((resolve) => {
      let status = 0;
      const outgoing = {
        writeHead(sent: number) {
          status = sent;
        },
        end: (body: Uint8Array) => resolve({ status, body: Buffer.from(body).toString() }),
      };
      createDirectListener([route], () => resolve('forwarded'))(incoming, outgoing as unknown as ServerResponse);
    });
    expect(response).toEqual({ status: 200, body: 'POST http://localhost:1/v1/parse localhost:1' });
  });
});

/** A server whose first counted request can be awaited. */
async function openWithMeter() {
  let report: (request: unknown) => void = () => undefined;
  const first = new Promise((resolve) => {
    report = resolve;
  });
  const meter = {
    countParse: () => undefined,
    countRequest: (counted: unknown) => report(counted),
    render: async () => '',
  };
  return { ...(await openListeningServer({ meter })), meter: { first } };
}
