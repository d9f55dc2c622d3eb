import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Server, connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder } from '../../test/temporary-folder.js';
import { createJsonLogger } from '../base/logger.js';
import { startWorker } from '../orders/dispatch/start-worker.js';
import { createLead } from '../orders/lead/create-lead.js';
import { openStore } from '../store/open-store.js';
import { runServer } from './run-server.js';
import type { RunServerOptions } from './run-server.js';
import { DEFAULT_LIMITS } from './server-settings.js';

async function startServer(changes: Partial<RunServerOptions> = {}, withWorker = false) {
  const data = await makeFolder({ 'work/x': '' });
  const store = await openStore('memory:');
  const lead = createLead({ store, data });
  const worker = withWorker ? startWorker({ store, lead, runs: { data }, pollMs: 50 }) : undefined;
  const settings = { roots: [`${data}/work`], commands: [process.execPath], ...changes.settings };
  const running = await runServer({ store, lead, data, port: 0, ...changes, settings, ...(worker && { worker }) });
  onTestFinished(async () => {
    await running.stop({ graceMs: 0 });
    await store.close();
  });
  const url = new URL(running.url);
  /** Sends raw bytes, and returns everything received until the connection closes. */
  const sendRaw = async (text: string): Promise<string> => {
    const socket = connect(Number(url.port), url.hostname);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.write(text);
    await once(socket, 'close');
    return Buffer.concat(chunks).toString();
  };
  return { ...running, store, work: `${data}/work`, sendRaw };
}

const json = { 'content-type': 'application/json' };

describe('a server on a port', () => {
  it('responds at its address', async () => {
    const { url } = await startServer();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready' });
    const response = await fetch(`${url}/v1/parse`, { method: 'POST', headers: json, body: '{"text":"{a:1}"}' });
    expect(await response.json()).toMatchObject({ status: 'success', value: { a: 1 } });
  });

  it('reports an address that is in use', async () => {
    const { url } = await startServer();
    const port = Number(new URL(url).port);
    await expect(startServer({ port })).rejects.toMatchObject({ code: 'ADDRESS_UNAVAILABLE' });
  });

  it('logs connections that cannot be accepted, and continues', async () => {
    const listening = vi.spyOn(Server.prototype, 'listen');
    onTestFinished(() => listening.mockRestore());
    const lines: string[] = [];
    const { url } = await startServer({ logger: createJsonLogger((line) => lines.push(line)) });
    const [server] = listening.mock.contexts as Server[];
    for (let count = 0; count < 2; count += 1) server?.emit('error', new Error('accept ENFILE'));
    expect(lines.filter((line) => line.includes('accept ENFILE'))).toHaveLength(2);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it('refuses to listen on other addresses without tokens', async () => {
    await expect(startServer({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'TOKENS_NEEDED' });
  });

  it('refuses an unknown host name', async () => {
    const { sendRaw } = await startServer();
    const response = await sendRaw('GET /v1/runs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
    expect(response).toMatch(/^HTTP\/1\.1 421 /);
  });

  it.each([
    ['a request that is not HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a request without a host', 'GET / HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['an empty host', 'GET /healthz HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n', /^HTTP\/1\.1 400 /],
    [
      'the address of another host',
      'GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      /^HTTP\/1\.1 421 /,
    ],
    [
      'headers that are too long',
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 /,
    ],
    [
      'two lengths',
      'POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
      /^HTTP\/1\.1 400 /,
    ],
    [
      'a length and chunks',
      'POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      /^HTTP\/1\.1 400 /,
    ],
    [
      'an absolute address',
      'GET http://evil.example/v1/runs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
      /^HTTP\/1\.1 (?:400|421) /,
    ],
  ])('refuses %s', async (_, bytes, expected) => {
    const { sendRaw } = await startServer();
    expect(await sendRaw(bytes)).toMatch(expected);
  });

  it('refuses a body whose declared size is too large before it is sent', async () => {
    const { sendRaw } = await startServer();
    const response = await sendRaw(
      'POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999999999\r\nConnection: close\r\n\r\n',
    );
    expect(response).toMatch(/^HTTP\/1\.1 413 /);
    expect(response).toContain('BODY_TOO_LARGE');
  });

  it('counts a body that arrives in chunks, and refuses it once it is too large', async () => {
    const { sendRaw } = await startServer({ settings: { limits: { ...DEFAULT_LIMITS, bodyBytes: 20 } } });
    const head =
      'POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n';
    expect(await sendRaw(`${head}8\r\n{"text":\r\n5\r\n"{}"}\r\n0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await sendRaw(`${head}8\r\n{"text":\r\n10\r\n"${'x'.repeat(14)}"\r\n0\r\n\r\n`)).toContain('BODY_TOO_LARGE');
  });
});

describe('a server that is stopped', () => {
  it('lets active work finish, still serves read requests, and then stops', async () => {
    const { url, store, work, stop } = await startServer({}, true);
    const program = `setInterval(() => { if (fs.existsSync('go')) { console.log('{}'); process.exit(); } }, 5)`;
    const command = [process.execPath, '-e', program];
    const spec = { engine: 'command', command, workdir: work, contract: {} };
    const started = await fetch(`${url}/v1/runs`, { method: 'POST', headers: json, body: JSON.stringify(spec) });
    const { id } = (await started.json()) as { id: string };
    await expect.poll(async () => (await store.findRun(id))?.state, { timeout: 30_000 }).toBe('running');

    const stopped = stop();
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    expect((await fetch(`${url}/v1/runs`, { method: 'POST', headers: json, body: JSON.stringify(spec) })).status).toBe(
      503,
    );
    expect((await fetch(`${url}/v1/runs/${id}`)).status).toBe(200);
    await writeFile(join(work, 'go'), '');
    await stopped;
    expect(await store.findRun(id)).toMatchObject({ state: 'ended', result: { status: 'success' } });
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
  });

  it('stops work that takes longer than the grace period', async () => {
    const { url, store, work, stop } = await startServer({}, true);
    const command = [process.execPath, '-e', 'setTimeout(() => undefined, 60_000)'];
    const spec = { engine: 'command', command, workdir: work };
    const started = await fetch(`${url}/v1/runs`, { method: 'POST', headers: json, body: JSON.stringify(spec) });
    const { id } = (await started.json()) as { id: string };
    await expect.poll(async () => (await store.findRun(id))?.state, { timeout: 30_000 }).toBe('running');
    await stop({ graceMs: 50 });
    expect(await store.findRun(id)).toMatchObject({ state: 'ended', result: { status: 'canceled' } });
  });

  it('does not wait for idle clients', async () => {
    const { url, stop } = await startServer();
    const { port, hostname } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    // One write, so the server has received the start of the second request when it responds to the first.
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nPOST /v1/parse HTTP/1.1\r\nHost: localhost\r\n');
    await once(socket, 'data');
    await stop();
    expect(socket.destroyed || (await once(socket, 'close'))).toBeTruthy();
  });
});
