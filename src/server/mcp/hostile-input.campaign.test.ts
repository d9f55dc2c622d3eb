import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/index.js';
import type { Client } from '../client/index.js';
import { serveMcp } from './index.js';

const METHODS = ['initialize', 'tools/list', 'tools/call', 'ping', 'notifications/cancelled', '__proto__', ''];

/** Messages that a client should not send: other shapes, ids, methods and arguments, and no JSON at all. */
const message = fc.oneof(
  fc.string({ maxLength: 200 }).map((text) => text.replaceAll('\n', ' ')),
  fc.json().map((json) => json.replaceAll('\n', ' ')),
  fc.constantFrom('['.repeat(100_000), '{"a":'.repeat(50_000), '\0'.repeat(1000), '\u001b]0;x\u0007', '[]', '[{}]'),
  fc
    .record({
      jsonrpc: fc.constantFrom('2.0', '1.0', 2),
      id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.constant({})),
      method: fc.constantFrom(...METHODS),
      params: fc.oneof(
        fc.anything(),
        fc.record({ name: fc.constantFrom('parse', 'start_run', 'constructor', 'no-such'), arguments: fc.anything() }),
      ),
    })
    .map((value) => JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part))),
);

describe('MCP over stdio', () => {
  it('survives hostile input: it prints only the protocol, calls no tool without valid arguments, and still responds', async () => {
    const calls: string[] = [];
    const client = new Proxy({} as Client, {
      get: (_target, name) => async (input: unknown) => {
        if (name === 'getSession') return { scopes: ['read', 'run'] };
        calls.push(`${String(name)} ${typeof input}`);
        return {};
      },
    });
    const input = new PassThrough();
    const output = new PassThrough();
    let printed = '';
    output.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const served = serveMcp({ client, mayDecide: false, logger: silentLogger, input, output });
    const send = (value: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...value })}\n`);
    const clientInfo = { name: 'x', version: '1' };
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    send({ id: 'first', method: 'initialize', params: hello });
    await expect.poll(() => printed, { timeout: 60_000 }).toContain('"first"');
    send({ method: 'notifications/initialized' });
    for (const line of fc.sample(message, { numRuns: 500, seed: 1 })) input.write(`${line}\n`);
    send({ id: 'last', method: 'tools/list', params: {} });
    await expect.poll(() => printed, { timeout: 60_000 }).toContain('"last"');
    for (const line of printed.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
    expect(calls.filter((call) => call.startsWith('resolve') || call.startsWith('decide'))).toEqual([]);
    input.end();
    await served;
  });
});
