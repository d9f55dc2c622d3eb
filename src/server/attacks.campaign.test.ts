import { connect } from 'node:net';
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openListeningServer } from './fixtures/open-listening-server.js';
import { DEFAULT_LIMITS } from './server-settings.js';

/** The duration of the random attacks. */
const SECONDS = Number(process.env['ATTACK_SECONDS'] ?? 3);
const ATTACKERS = 6;

/** Fragments of regular expressions that are slow to match, nested and repeated at random. */
const pattern = fc.letrec<{ part: string }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('a', '.', '\\B', '\\b', '^', '$', '[^x]', '\\w', ''),
    fc.tuple(tie('part'), fc.constantFrom('*', '+', '?', '{0,30}')).map(([part, times]) => `(?:${part})${times}`),
    fc.array(tie('part'), { maxLength: 6 }).map((parts) => `(?:${parts.join('|')})`),
    fc.array(tie('part'), { maxLength: 4 }).map((parts) => parts.join('')),
  ),
})).part;

const schema = fc.letrec<{ node: object }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc.record({ type: fc.constantFrom('string', 'number', 'object', 'array') }),
    pattern.map((source) => ({ pattern: source })),
    fc.array(tie('node'), { minLength: 1, maxLength: 4 }).map((anyOf) => ({ anyOf })),
    fc.tuple(tie('node'), fc.integer({ min: 1, max: 20 })).map(([items, minItems]) => ({ items, minItems })),
    fc.constant({ $ref: '#' }),
    tie('node').map((not) => ({ not })),
  ),
})).node;

const text = fc
  .tuple(
    fc.constantFrom('a', '[', '{"a":', "'", '1e20,', '"x",', '```\n', '<json>', '\\'),
    fc.integer({ min: 0, max: 60_000 }),
  )
  .map(([fragment, times]) => fragment.repeat(times));

const parseRequest = fc.record({ text, schema, align: fc.boolean(), allow_partial: fc.boolean() });

/** The start of a request that is never completed. */
const partialRequest = fc.constantFrom(
  'GET / HTTP/1.1\r\nHost: local',
  'POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{',
  'POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n{"text":"',
  'GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n',
);

describe('random attacks', () => {
  it('do not keep the server from responding to health checks', { timeout: SECONDS * 1000 + 60_000 }, async () => {
    const { url } = await openListeningServer({ settings: { limits: { ...DEFAULT_LIMITS, bodyBytes: 1024 * 1024 } } });
    const { hostname, port } = new URL(url);
    const deadline = performance.now() + SECONDS * 1000;
    const isOver = (): boolean => performance.now() > deadline;
    const statuses = new Map<number, number>();
    const openSockets = new Set<Socket>();
    onTestFinished(() => {
      for (const socket of openSockets) socket.destroy();
    });

    async function attack(requests: readonly object[], partialRequests: readonly string[]): Promise<void> {
      for (let index = 0; !isOver(); index += 1) {
        const socket = connect(Number(port), hostname);
        // Read to the end: a socket that is never read does not notice that the server closed it.
        socket
          .on('error', () => undefined)
          .resume()
          .write(partialRequests[index % partialRequests.length] ?? '');
        openSockets.add(socket);
        socket.once('close', () => openSockets.delete(socket));
        const body = JSON.stringify(requests[index % requests.length]);
        const response = await fetch(`${url}/v1/parse`, { method: 'POST', headers: JSON_TYPE, body });
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        await response.arrayBuffer();
      }
    }

    const latencies: number[] = [];
    async function checkHealth(): Promise<void> {
      while (!isOver()) {
        const startedAt = performance.now();
        expect((await fetch(`${url}/healthz`)).status).toBe(200);
        latencies.push(performance.now() - startedAt);
      }
    }

    const attackers = Array.from({ length: ATTACKERS }, async () =>
      attack(fc.sample(parseRequest, 200), fc.sample(partialRequest, 200)),
    );
    await Promise.all([checkHealth(), ...attackers]);
    latencies.sort((a, b) => a - b);
    const p99 = latencies[Math.floor(latencies.length * 0.99)] ?? 0;
    if (process.env['ATTACK_SECONDS'] !== undefined) {
      const percentiles = [0.5, 0.99, 1].map((part) => latencies[Math.ceil(latencies.length * part) - 1]?.toFixed(0));
      const statusCounts = [...statuses].map(([status, times]) => `${times} x ${status}`).join(', ');
      process.stdout.write(
        `health: ${latencies.length} checks, p50/p99/max ${percentiles.join('/')} ms; attacks: ${statusCounts}\n`,
      );
    }
    // Client and server share one process here, so this is an upper bound.
    expect(p99).toBeLessThan(2000);
    expect([...statuses.keys()].filter((status) => status >= 500 && status !== 503)).toEqual([]);
    expect(statuses.get(200)).toBeGreaterThan(0);
  });
});

const JSON_TYPE = { 'content-type': 'application/json' };
