import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createJsonLogger } from '../../base/logger.js';
import { openListeningServer } from '../fixtures/open-listening-server.js';
import { startScriptedRun } from '../fixtures/scripted-run.js';
import { DEFAULT_LIMITS } from '../server-settings.js';
import { createSharedLimit } from './admission.js';

const tokens = [
  { name: 'ada', scopes: ['read', 'run'], value: 'ada-ada-ada-ada-ada' },
  { name: 'bob', scopes: ['read', 'run'], value: 'bob-bob-bob-bob-bob' },
] as const;
const [ada, bob] = tokens.map(({ value }) => ({ authorization: `Bearer ${value}` }));

async function open(limits: Partial<typeof DEFAULT_LIMITS>) {
  const server = await openListeningServer({ settings: { tokens, limits: { ...DEFAULT_LIMITS, ...limits } } });
  const { hostname, port } = new URL(server.url);

  /** Opens a connection that sends the given text, and then neither sends nor reads. */
  const send = async (bytes: string): Promise<Socket> => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    await new Promise((resolve) => {
      socket.write(bytes, resolve);
    });
    return socket.pause();
  };
  const ask = async (path: string, headers: Record<string, string> = {}, body?: object) =>
    fetch(`${server.url}${path}`, {
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  return { ...server, send, ask };
}

const head = (path: string, length: number, extraHeaders = '') =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${extraHeaders}\r\n`;

describe('unfinished bodies of anonymous callers', () => {
  it('do not use up the slots of other callers', async () => {
    const { send, ask } = await open({ requestsAtOnce: 4 });
    await Promise.all(Array.from({ length: 300 }, async () => send(`${head('/v1/session', 100)}{`)));
    expect((await ask('/healthz')).status).toBe(200);
    expect((await ask('/readyz')).status).toBe(200);
    expect((await ask('/v1/runs', ada)).status).toBe(200);
    expect((await ask('/v1/parse', ada, { text: '{}' })).status).toBe(200);
  });

  it('must be small', async () => {
    const { ask } = await open({});
    const response = await ask('/v1/session', {}, { token: 'x'.repeat(5000) });
    expect(response.status).toBe(413);
  });

  it('time out after a few seconds', async () => {
    const { send } = await open({});
    const socket = await send(`${head('/v1/session', 100)}{`);
    const response = await new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => (text += String(chunk)));
      socket.once('close', () => resolve(text));
      socket.resume();
    });
    expect(response).toContain('REQUEST_TIMED_OUT');
  }, 20_000);
});

describe('a caller that sends large bodies and does not finish them', () => {
  it('is refused before memory is full, but other callers are not', async () => {
    const { send, ask } = await open({ bodyBytes: 100_000 });
    const responses: string[] = [];
    const bearer = `Authorization: ${ada?.authorization ?? ''}\r\n`;
    for (let count = 0; count < 12; count += 1) {
      const socket = await send(head('/v1/parse', 100_000, bearer) + 'x'.repeat(90_000));
      socket.on('data', (chunk) => responses.push(String(chunk))).resume();
    }
    // The caller may use half of the 800,000 bytes, so four of twelve bodies are received.
    await vi.waitFor(() => expect(responses).toHaveLength(8), 10_000);
    expect(responses.every((response) => response.includes('SERVER_BUSY'))).toBe(true);
    expect((await ask('/v1/parse', bob, { text: `"${'x'.repeat(50_000)}"` })).status).toBe(200);
  });
});

describe('a caller that disconnects while it sends a body', () => {
  it('is not logged as a server error', async () => {
    const lines: string[] = [];
    const { url } = await openListeningServer({ logger: createJsonLogger((line) => lines.push(line)) });
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(`${head('/v1/parse', 100)}{`, () => void setImmediate(() => socket.destroy()));
    await vi.waitFor(() => expect(lines).toHaveLength(1), 10_000);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info', status: 400, error: 'INVALID_BODY' });
  });
});

describe('downloads that are not read', () => {
  it('do not use up the slots of other requests', async () => {
    const { send, ask, store, data } = await open({ requestsAtOnce: 4 });
    await startScriptedRun(store, 'run-1');
    const audit = join(data, 'runs', 'run-1', '.audit');
    await mkdir(audit, { recursive: true });
    await writeFile(join(audit, 'stdout.1.log'), Buffer.alloc(32 * 1024 * 1024));
    const bearer = `Authorization: ${ada?.authorization ?? ''}\r\n`;
    const request = `GET /v1/runs/run-1/raw/1/stdout HTTP/1.1\r\nHost: localhost\r\n${bearer}\r\n`;
    await Promise.all(Array.from({ length: 8 }, async () => send(request)));
    await vi.waitFor(async () => {
      const response = await ask('/v1/runs/run-1/raw/1/stdout', ada);
      await response.body?.cancel();
      expect(response.status).toBe(503);
    }, 10_000);
    expect((await ask('/v1/runs', ada)).status).toBe(200);
    const other = await ask('/v1/runs/run-1/raw/1/stdout', bob);
    await other.body?.cancel();
    expect(other.status).toBe(200);
  });
});

describe('one caller', () => {
  it('cannot use up all streams', async () => {
    const { ask, store } = await open({ streamsAtOnce: 8 });
    await startScriptedRun(store, 'run-1');
    const follow = async (headers: typeof ada) => {
      const response = await ask('/v1/runs/run-1/events', headers);
      onTestFinished(async () => response.body?.cancel());
      return response.status;
    };
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1) statuses.push(await follow(ada));
    expect(statuses).toEqual([200, 200, 200, 200, 503, 503]);
    expect(await follow(bob)).toBe(200);
  });
});

describe('a shared limit', () => {
  it('leaves as much for other callers as one caller uses', () => {
    const limit = createSharedLimit(100);
    const takeAll = (key: string): number => {
      let count = 0;
      while (limit.open(key).grow(1)) count += 1;
      return count;
    };
    expect([takeAll('a'), takeAll('b'), takeAll('c'), takeAll('d')]).toEqual([50, 25, 12, 6]);
  });

  it('can be used up by the first request of a caller, and is released once', () => {
    const limit = createSharedLimit(10);
    const reservation = limit.open('a');
    expect(reservation.grow(10)).toBe(true);
    expect(limit.open('b').grow(1)).toBe(false);
    reservation.release();
    reservation.release();
    expect(reservation.grow(1)).toBe(false);
    expect(limit.open('b').grow(10)).toBe(true);
    expect(limit.open('a').grow(1)).toBe(false);
  });
});

it('six bodies of 16 MiB at once and slow connections do not stop health checks', async () => {
  const { send, ask } = await open({});
  const slow = Array.from({ length: 100 }, async () =>
    send(`${head('/v1/parse', 100, `Authorization: Bearer x\r\n`)}{`),
  );
  await Promise.all(slow);
  const largeText = `{"a":"${'x'.repeat(15 * 1024 * 1024)}"}`;
  const progress = { isOver: false };
  const bodies = Promise.all(
    Array.from({ length: 6 }, async (_, index) => {
      const response = await ask('/v1/parse', index % 2 === 0 ? ada : bob, { text: largeText });
      await response.arrayBuffer();
      return response.status;
    }),
  ).finally(() => {
    progress.isOver = true;
  });
  const latencies: number[] = [];
  while (!progress.isOver) {
    const startedAt = performance.now();
    expect((await ask('/healthz')).status).toBe(200);
    latencies.push(performance.now() - startedAt);
  }
  expect((await bodies).every((status) => status === 200 || status === 503 || status === 413 || status === 422)).toBe(
    true,
  );
  if (process.env['ATTACK_SECONDS'] !== undefined)
    process.stdout.write(
      `six bodies: ${latencies.length} health checks, slowest ${Math.max(...latencies).toFixed(0)} ms\n`,
    );
  // Answered one after the other while the bodies were read; how fast is measured, not tested.
  expect(latencies.length).toBeGreaterThan(2);
});
