import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** A running server of static files. */
export interface FolderServer {
  /** The address of the folder, with the base path. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * Serves a folder at a base path on the loopback address, as a static host would.
 *
 * @example
 * const { url, close } = await serveFolder({ folder: 'dist/site', base: '/a/b/', port: 0 })
 */
export async function serveFolder(options: Readonly<{ folder: string; base: string; port: number }>) {
  const { folder, base, port } = options;
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const send = async (): Promise<void> => {
      const file = pathname.startsWith(base) ? await findFile(folder, pathname.slice(base.length)) : undefined;
      if (file === undefined) {
        response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found.\n');
        return;
      }
      response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
      createReadStream(file).pipe(response);
    };
    send().catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : port;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  };
  return { url: `http://127.0.0.1:${actual}${base}`, close } satisfies FolderServer;
}

async function findFile(folder: string, path: string): Promise<string | undefined> {
  const relative = normalize(decodeURIComponent(path));
  if (relative.startsWith('..')) return undefined;
  for (const file of [join(folder, relative), join(folder, relative, 'index.html')]) {
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile() === true) return file;
  }
  return undefined;
}
