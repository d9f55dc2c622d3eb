import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createJsonLogger } from '../../base/logger.js';
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

/** Serves MCP on streams, and collects what it prints and logs. */
async function serve(client: Partial<Client>) {
  const input = new PassThrough();
  const output = new PassThrough();
  const lines: string[] = [];
  const site = { input, printed: '', lines };
  output.on('data', (chunk: Buffer) => (site.printed += chunk.toString()));
  const session = { getSession: async () => ({ scopes: ['read', 'run'] }), ...client } as unknown as Client;
  const logger = createJsonLogger((line) => lines.push(line));
  const served = serveMcp({ client: session, mayDecide: false, logger, input, output });
  onTestFinished(async () => {
    input.end();
    await served;
  });
  const send = (value: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...value })}\n`);
  const clientInfo = { name: 'x', version: '1' };
  send({ id: 'first', method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
  await expect.poll(() => site.printed).toContain('"first"');
  send({ method: 'notifications/initialized' });
  return { site, send, served };
}

describe('MCP over stdio', () => {
  it('does not log calls that the client cancels as failures, and still responds after many of them', async () => {
    let aborted = 0;
    const parse = async ({ signal }: { readonly signal?: AbortSignal } = {}): Promise<never> =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          aborted += 1;
          reject(new DOMException('This operation was aborted', 'AbortError'));
        });
      });
    const { site, send } = await serve({ parse });
    for (let round = 0; round < 20; round += 1) {
      for (let id = 0; id < 50; id += 1) {
        const requestId = `${round}-${id}`;
        send({ id: requestId, method: 'tools/call', params: { name: 'parse', arguments: { text: '1' } } });
        send({ method: 'notifications/cancelled', params: { requestId, reason: 'x' } });
        send({ method: 'notifications/cancelled', params: { requestId: `no-${requestId}` } });
      }
      await expect.poll(() => aborted).toBe((round + 1) * 50);
    }
    send({ id: 'last', method: 'tools/list', params: {} });
    await expect.poll(() => site.printed).toContain('"last"');
    expect(site.lines.filter((line) => line.includes('"level":"error"')).slice(0, 1)).toEqual([]);
  });

  it('refuses arguments that are nested too deeply, and more calls at once than it can serve', async () => {
    const { site, send } = await serve({
      parse: async () => new Promise<never>(() => {}),
    });
    const deep = `${'{"not":'.repeat(5000)}{}${'}'.repeat(5000)}`;
    site.input.write(
      `{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"parse","arguments":{"text":"1","schema":${deep},"more":1}}}\n`,
    );
    await expect.poll(() => site.printed).toContain('"deep"');
    for (let id = 0; id < 100; id += 1)
      send({ id: `call-${id}`, method: 'tools/call', params: { name: 'parse', arguments: { text: '1' } } });
    await expect.poll(() => site.printed.split('SERVER_BUSY').length).toBeGreaterThan(36);
    send({ id: 'last', method: 'tools/list', params: {} });
    await expect.poll(() => site.printed).toContain('"last"');
    expect(site.lines.filter((line) => line.includes('"level":"error"')).slice(0, 1)).toEqual([]);
  });

  it('logs little, however many messages are invalid', async () => {
    const { site, send } = await serve({});
    for (let count = 0; count < 300; count += 1)
      for (const line of ['[]', 'null', '{"jsonrpc":"2.0","id":{}}']) site.input.write(`${line}\n`);
    send({ id: 'last', method: 'tools/list', params: {} });
    await expect.poll(() => site.printed).toContain('"last"');
    expect(site.lines).toHaveLength(20);
    expect(Math.max(...site.lines.map(({ length }) => length))).toBeLessThan(400);
  });

  it('closes the connection at a line that is too long', async () => {
    const { site, served } = await serve({});
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    for (let count = 0; count < 40 && !site.input.writableEnded && !site.input.destroyed; count += 1)
      if (!site.input.write(chunk)) await setImmediate();
    await served;
    expect(site.printed.split('\n').length).toBeLessThan(5);
  });

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
