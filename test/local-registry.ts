import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename } from 'node:path';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { PROJECT, run } from '../scripts/run-tool.js';

/**
 * Starts a package registry for the running test that serves these tarballs, each with its manifest, and redirects
 * requests for other packages to the configured registry. Returns its URL.
 */
export async function startRegistry(tarballs: readonly { readonly path: string; readonly manifest: Manifest }[]) {
  const upstream = (await run('npm', ['config', 'get', 'registry'], PROJECT)).stdout.trim();
  const files = new Map<string, Buffer>();
  for (const { path } of tarballs) files.set(`/${basename(path)}`, await readFile(path));
  const server = createServer(({ url = '/' }, response) => {
    const file = files.get(url);
    if (file !== undefined) return void response.end(file);
    const found = tarballs.find(({ manifest }) => url === `/${manifest.name}`);
    if (found === undefined)
      return void response.writeHead(302, { location: new URL(url.slice(1), upstream).href }).end();
    const { manifest, path } = found;
    const { name, version } = manifest;
    const integrity = `sha512-${createHash('sha512')
      .update(files.get(`/${basename(path)}`) ?? '')
      .digest('base64')}`;
    const dist = { tarball: `${address}/${basename(path)}`, integrity };
    const document = { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return address;
}

export interface Manifest {
  readonly name: string;
  readonly version: string;
}
