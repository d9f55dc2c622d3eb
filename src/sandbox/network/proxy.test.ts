import { createServer, request } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listsLoopback, readHostList } from './host-list.js';
import { openProxy } from './proxy.js';
import type { DeniedHost } from './proxy.js';

async function serve(): Promise<number> {
  const server = createServer((_, response) => response.end('served'));
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Opens a proxy for these hosts, with `names` as its resolver; `tunnel` requests a tunnel and returns the status. */
async function open(hosts: readonly string[], names: Readonly<Record<string, readonly string[]>> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-p-'));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const socketPath = join(folder, 's');
  const denied: DeniedHost[] = [];
  const proxy = await openProxy(socketPath, {
    hosts,
    onDenied: (one) => denied.push(one),
    resolve: async (host) => names[host] ?? [],
  });
  onTestFinished(async () => proxy.close());
  const tunnel = async (path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asked = request({ socketPath, method: 'CONNECT', path });
      asked.once('connect', (answer, socket) => {
        socket.destroy();
        resolve(answer.statusCode);
      });
      asked.once('error', reject);
      asked.end();
    });
  return { denied, tunnel };
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
    ['an address of this machine in other digits', '0x7f000001:443', 'not listed'],
    ['a listed name that resolves to a private address', 'inside.test:443', 'its address is private'],
    ['a listed name that leads to one private address among others', 'mixed.test:443', 'its address is private'],
    ['a listed name that does not exist', 'gone.test:443', 'unknown host'],
    ['what is not a host', 'nonsense', 'not listed'],
  ])('refuses %s', async (_, asked, reason) => {
    const names = { 'inside.test': ['10.0.0.7'], 'mixed.test': ['93.184.216.34', '169.254.169.254'] };
    const { tunnel, denied } = await open(['inside.test', 'mixed.test', 'gone.test'], names);
    expect(await tunnel(asked)).toBe(403);
    expect(denied).toMatchObject([{ reason }]);
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
    ['10.0.0.7', '10.0.0.7', 443, true],
  ])('%s allows %s at %i: %s', (entry, host, port, isAllowed) => {
    expect(readHostList([entry]).allows(host, port)).toBe(isAllowed);
  });

  it('detects loopback addresses, which mean the machine outside', () => {
    expect([['localhost:80'], ['127.0.0.1:1'], ['[::1]:1'], ['example.org']].map(listsLoopback)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});
