import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startFaultyServer } from './fixtures/faulty-server.js';
import { makeMessage } from './fixtures/message.js';
import { describeNetworkSink, describeSink } from './sink.contract.js';
import { isSignedWebhook, createWebhookSink } from './webhook-sink.js';

const SECRET = 'a secret of some length';
const NOW = Date.parse('2026-11-15T08:00:00Z');

async function start() {
  const bodies: string[] = [];
  const server = await startFaultyServer(({ body }) => {
    const payload = JSON.parse(body) as { readonly body: string };
    bodies.push(payload.body);
    return { status: 200, body: {} };
  });
  const options = { url: `${server.url}/hook?x=1`, secret: SECRET, timeoutMs: 500, clock: () => NOW };
  const sink = createWebhookSink({ ...options, allowPrivateAddresses: true });
  return { ...server, options, sink, arrived: async () => bodies };
}

describeSink('webhook', start);
describeNetworkSink('webhook', start);

describe('createWebhookSink', () => {
  const signal = AbortSignal.timeout(60_000);

  it('signs the time and the body', async () => {
    const { sink, seen } = await start();
    await sink.send(makeMessage(), signal);
    const { headers = {}, body = '' } = seen[0] ?? {};
    const delivery = {
      secret: SECRET,
      body,
      timestamp: String(headers['sluice-timestamp']),
      signature: String(headers['sluice-signature']),
      now: NOW,
    };
    expect(isSignedWebhook(delivery)).toBe(true);
    expect(isSignedWebhook({ ...delivery, secret: 'another secret, longer' })).toBe(false);
    expect(isSignedWebhook({ ...delivery, body: `${body} ` })).toBe(false);
    expect(isSignedWebhook({ ...delivery, timestamp: String(Number(delivery.timestamp) + 1) })).toBe(false);
    expect(isSignedWebhook({ ...delivery, now: NOW + 301_000 })).toBe(false);
    expect(isSignedWebhook({ ...delivery, signature: undefined })).toBe(false);
  });

  it('sends the same key with every delivery of a message, and a different key for another message or installation', async () => {
    const { sink, seen } = await start();
    await sink.send(makeMessage(), signal);
    await sink.send(makeMessage(), signal);
    await sink.send(makeMessage({ trigger: 'resolve:x' }), signal);
    await sink.send(makeMessage({ installation: 'installation-2' }), signal);
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    const { id } = makeMessage();
    expect(keys).toEqual([
      `installation-1 ${id} test owner%2Frepo%237 workrun%3A2026-11-15-backend-0001`,
      `installation-1 ${id} test owner%2Frepo%237 workrun%3A2026-11-15-backend-0001`,
      `installation-1 ${id} test owner%2Frepo%237 resolve%3Ax`,
      `installation-2 ${id} test owner%2Frepo%237 workrun%3A2026-11-15-backend-0001`,
    ]);
    // The signature covers the body, and therefore the key.
    expect(seen.map(({ body }) => (JSON.parse(body) as { idempotency_key: string }).idempotency_key)).toEqual(keys);
  });

  it('rejects a private address unless allowed', async () => {
    const { options, seen, port } = await start();
    const urls = [options.url, `http://localhost:${port}/`, `http://[::1]:${port}/`, `http://2130706433:${port}/`];
    for (const url of urls) {
      await expect(createWebhookSink({ ...options, url }).send(makeMessage(), signal)).rejects.toMatchObject({
        code: 'SINK_PRIVATE_ADDRESS',
        isPermanent: true,
      });
    }
    expect(seen).toEqual([]);
  });

  it.each([
    ['a private address, each time', [['127.0.0.1'], ['192.168.1.1']]],
    ['both at once', [['8.8.8.8', '10.0.0.1']]],
    ['an address of the cloud host', [['169.254.169.254']]],
    ['an address mapped to IPv6', [['::ffff:127.0.0.1']]],
    ['a unique local address', [['fd00::1']]],
  ])('rejects a name whose server answers with %s', async (_, answers) => {
    const { options, port, seen } = await start();
    const original = dns.lookup;
    onTestFinished(() => {
      dns.lookup = original;
      syncBuiltinESMExports();
    });
    let asked = 0;
    const answer = (_name: string, _options: object, callback: (error: null, found: object[]) => void): void => {
      const found = answers[asked++] ?? [];
      callback(
        null,
        found.map((address) => ({ address, family: isIP(address) })),
      );
    };
    dns.lookup = answer as unknown as typeof dns.lookup;
    syncBuiltinESMExports();
    const sink = createWebhookSink({ ...options, url: `http://rebound.example:${port}/` });
    for (const each of answers.keys()) {
      await expect(sink.send(makeMessage(), signal)).rejects.toMatchObject({ code: 'SINK_PRIVATE_ADDRESS' });
      // The address that was checked is the one that is used: there is no second question.
      expect(asked).toBe(each + 1);
    }
    expect(seen).toEqual([]);
  });

  it('rejects a response that exceeds the limit', async () => {
    const { sink, failNext } = await start();
    failNext({ kind: 'endless-after' });
    await expect(sink.send(makeMessage(), signal)).rejects.toMatchObject({ code: 'SINK_ANSWER_UNREADABLE' });
  });

  it.each([
    ['an invalid URL', { url: 'example.org', secret: SECRET }],
    ['another protocol', { url: 'file:///etc/passwd', secret: SECRET }],
    ['a short secret', { url: 'https://example.org', secret: 'short' }],
  ])('rejects %s on creation', (_, options) => {
    expect(() => createWebhookSink(options)).toThrow(expect.objectContaining({ code: 'INVALID_SINK' }));
  });
});
