import { createServer, request } from 'node:http';
import { connect, createServer as createRawServer } from 'node:net';
import type { Server } from 'node:net';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listsLoopback, readHostList } from './host-list.js';
import { openProxy } from './proxy.js';
import type { DeniedHost } from './proxy.js';

async function serve(server: Server = createServer((_, response) => response.end('served'))): Promise<number> {
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Opens a proxy for these hosts; `tunnel` requests a tunnel and returns the status. */
async function open(
  hosts: readonly string[],
  names: Readonly<Record<string, readonly string[] | Promise<readonly string[]>>> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-p-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const socketPath = join(folder, 's');
  const denied: DeniedHost[] = [];
  const proxy = await openProxy(socketPath, {
    hosts,
    onDenied: (denial) => denied.push(denial),
    resolve: async (host) => names[host] ?? [],
  });
  onTestFinished(async () => proxy.close());
  const tunnel = async (path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const connecting = request({ socketPath, method: 'CONNECT', path });
      connecting.once('connect', (response, socket) => {
        socket.destroy();
        resolve(response.statusCode);
      });
      connecting.once('error', reject);
      connecting.end();
    });
  return { proxy, socketPath, denied, tunnel };
}

describe('a proxy for listed hosts', () => {
  it('connects to a listed name and to a listed address', async () => {
    const port = await serve();
    const { tunnel, denied } = await open([`model.test:${port}`, `127.0.0.1:${port}`], { 'model.test': ['127.0.0.1'] });
    expect(await tunnel(`127.0.0.1:${port}`)).toBe(200);
    expect(await tunnel(`model.test:${port}`)).toBe(200);
    expect(denied).toEqual([]);
  });

  it.each<[string, string, DeniedHost['reason']]>([
    ['another name', 'other.test:443', 'not listed'],
    ['another port', 'inside.test:22', 'not listed'],
    ['an address that is not listed', '93.184.216.34:443', 'not listed'],
    ['an address of this host in hexadecimal', '0x7f000001:443', 'not listed'],
    ['a listed name that resolves to a private address', 'inside.test:443', 'its address is private'],
    ['a listed name with one private address among others', 'mixed.test:443', 'its address is private'],
    ['a listed name whose private address is listed for another port', 'narrow.test:443', 'its address is private'],
    ['a listed name that does not exist', 'gone.test:443', 'unknown host'],
    ['a port that does not exist, even if it is listed', 'odd.test:99999', 'not listed'],
    ['text without a port', 'nonsense', 'not listed'],
  ])('refuses %s', async (_, authority, reason) => {
    const names = {
      'inside.test': ['10.0.0.7'],
      'mixed.test': ['93.184.216.34', '169.254.169.254'],
      'odd.test': ['93.184.216.34'],
      'narrow.test': ['10.0.0.8'],
    };
    const hosts = ['inside.test', 'mixed.test', 'gone.test', 'odd.test:99999', 'narrow.test', '10.0.0.8:8080'];
    const { tunnel, denied } = await open(hosts, names);
    expect(await tunnel(authority)).toBe(403);
    expect(denied).toMatchObject([{ reason }]);
  });

  it('reports at most 255 characters of a denied host name', async () => {
    const { tunnel, denied } = await open(['model.test']);
    await tunnel(`${'a'.repeat(5000)}:443`);
    expect(denied).toEqual([{ host: `${'a'.repeat(255)}:443`, reason: 'not listed' }]);
  });

  it('opens no connection after it is closed', async () => {
    const server = createServer();
    let connections = 0;
    server.on('connection', (socket) => {
      connections += 1;
      socket.destroy();
    });
    const port = await serve(server);
    let finishLookup = (_: readonly string[]): void => undefined;
    const lookup = new Promise<readonly string[]>((resolve) => {
      finishLookup = resolve;
    });
    const { proxy, tunnel } = await open([`model.test:${port}`, `127.0.0.1:${port}`], { 'model.test': lookup });
    const pending = tunnel(`model.test:${port}`);
    // Sent after the first request: once this one is answered, the first is waiting for the lookup.
    await tunnel(`127.0.0.1:${port}`);
    await Promise.all([expect(pending).rejects.toThrow('socket hang up'), proxy.close()]);
    finishLookup(['127.0.0.1']);
    await once(connect(port, '127.0.0.1'), 'close');
    expect(connections).toBe(2);
  });

  it('continues after a response that it cannot forward', async () => {
    const port = await serve(
      createRawServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => socket.end('HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'));
      }),
    );
    const { socketPath } = await open([`127.0.0.1:${port}`]);
    const forwarded = request({ socketPath, path: `http://127.0.0.1:${port}/` });
    forwarded.end();
    await expect(once(forwarded, 'response')).rejects.toThrow('socket hang up');
  });
});

describe('a list of hosts', () => {
  it.each([
    ['api.example.org', 'API.example.org.', 443, true],
    ['api.example.org', 'api.example.org', 80, true],
    ['api.example.org', 'x.api.example.org', 443, false],
    ['*.example.org', 'x.y.example.org', 443, true],
    ['*.example.org', 'example.org', 443, false],
    ['*.example.org', 'badexample.org', 443, false],
    ['api.example.org:8443', 'api.example.org', 443, false],
    ['api.example.org:8443', 'api.example.org', 8443, true],
    ['[2001:db8::1]:443', '2001:db8::1', 443, true],
    ['[2001:DB8:0:0:0:0:0:1]:443', '2001:db8::1', 443, true],
    ['[2001:db8::1]', '2001:0db8:0000::0001', 443, true],
    ['[::ffff:10.0.0.7]', '::ffff:a00:7', 443, true],
    ['[2001:db8::1]', '2001:db8::2', 443, false],
    ['10.0.0.7', '10.0.0.7', 443, true],
  ])('%s allows %s at %i: %s', (entry, host, port, isAllowed) => {
    expect(readHostList([entry]).allows(host, port)).toBe(isAllowed);
  });

  it('detects loopback addresses, which refer to the host outside the sandbox', () => {
    for (const entry of ['localhost:80', '127.0.0.1:1', '[::1]:1', '[0:0:0:0:0:0:0:1]:1'])
      expect(listsLoopback([entry])).toBe(true);
    expect(listsLoopback(['example.org'])).toBe(false);
  });
});
