import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context, Hono } from 'hono';
import { chooseEncoding, compress, createTag, isCached, type Encoding } from '../http/content-encoding.js';
import { CONSOLE_HEADERS, PAGE_HEADERS } from '../security/headers.js';

export interface ConsoleFile {
  readonly bytes: Buffer;
  readonly type: string;
  /** The entity tag of its content. */
  readonly tag: string;
  /** Whether its name contains a hash, so browsers may cache it forever. */
  readonly isNamedByContent: boolean;
}

/** The console's files by path, such as `/assets/index-Cx3.js`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** The console's build folder. Its relative path is the same from the sources and from the build. */
export const CONSOLE_FOLDER = fileURLToPath(new URL('../../../dist/web/', import.meta.url));

/** The HTML document shared by all pages. */
const CONSOLE_PAGE = '/index.html';

/** The maximum number of files. A built console has a few dozen. */
const MAX_FILES = 500;
const MAX_BYTES = 16 * 1024 * 1024;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * Reads the files of the built console, or undefined if it is not built. Links are skipped. The server serves no other
 * files.
 */
export function readConsole(folder: string): ConsoleFiles | undefined {
  const files = new Map<string, ConsoleFile>();
  let total = 0;
  for (const path of listFiles(folder)) {
    total += statSync(path).size;
    if (files.size >= MAX_FILES || total > MAX_BYTES) {
      throw new Error(`The console in "${folder}" is too large. Build the package again.`);
    }
    const bytes = readFileSync(path);
    const name = `/${relative(folder, path).split(sep).join('/')}`;
    files.set(name, {
      bytes,
      type: TYPES[extname(name)] ?? 'application/octet-stream',
      tag: createTag(bytes),
      isNamedByContent: name.startsWith('/assets/'),
    });
  }
  return files.has(CONSOLE_PAGE) ? files : undefined;
}

function* listFiles(folder: string): Generator<string> {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  } catch {
    // The console is not built or not installed: the server works without it.
    return;
  }
  for (const entry of entries) if (entry.isFile()) yield join(entry.parentPath, entry.name);
}

/** The paths of the console's pages. All of them serve the same document, which renders the page in the browser. */
const PAGES = [
  '/',
  '/runs',
  '/runs/*',
  '/inbox',
  '/inbox/*',
  '/issues',
  '/issues/*',
  '/outbox',
  '/now',
  '/schedules',
  '/sinks',
  '/budgets',
  '/rules',
  '/tokens',
  '/executions',
  '/workbench',
  '/workers',
  '/charts',
];

/**
 * Adds the console. Its files need no token: they contain no data, and a browser has no token before its user signs in.
 * The pages load their data through the API.
 */
export function addConsole(
  app: Hono,
  { newRequestId }: { readonly newRequestId: () => string },
  files: ConsoleFiles,
): void {
  const encode = createEncoder();

  const serve = (path: string, name: string, file: ConsoleFile, status: 200 | 404 = 200): void => {
    const fixedHeaders = createHeaders(name, file);
    app.get(path, async (context: Context, next) => {
      if (status === 404 && !isNavigation(context)) return next();
      const requestId = newRequestId();
      const headers: Record<string, string> = { ...fixedHeaders, 'x-request-id': requestId };
      if (status === 200 && isCached(context.req.header('if-none-match'), file.tag))
        return new Response(null, { status: 304, headers });
      const encoding = isText(file) ? chooseEncoding(context.req.header('accept-encoding')) : 'identity';
      const body = await encode(file.bytes, encoding);
      if (encoding !== 'identity') headers['content-encoding'] = encoding;
      headers['content-length'] = String(body.length);
      return new Response(new Uint8Array(body), { status, headers });
    });
  };

  for (const [name, file] of files) {
    if (name === CONSOLE_PAGE) for (const path of PAGES) serve(path, name, file);
    else serve(name, name, file);
  }
  // Added after all other routes, so a user who mistypes a path gets the console's "not found" page.
  const page = files.get(CONSOLE_PAGE);
  if (page !== undefined) serve('*', CONSOLE_PAGE, page, 404);
}

function createHeaders(name: string, { type, tag, isNamedByContent }: ConsoleFile): Record<string, string> {
  return {
    ...(name === CONSOLE_PAGE ? PAGE_HEADERS : {}),
    ...CONSOLE_HEADERS,
    'content-type': type,
    // Other files are revalidated on every load, so a new build takes effect immediately.
    'cache-control': isNamedByContent ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: tag,
    vary: 'accept-encoding',
  };
}

/** Whether a browser requests a page at a path that is neither an endpoint nor a file. */
function isNavigation(context: Context): boolean {
  const { path } = context.req;
  if (path === '/v1' || path.startsWith('/v1/') || path.startsWith('/assets/') || /\.\w+$/.test(path)) return false;
  return /\btext\/html\b/.test(context.req.header('accept') ?? '');
}

function isText({ type }: ConsoleFile): boolean {
  return /^text\/|json$|svg/.test(type);
}

/**
 * The first visitor after a restart waits for the compression. Quality 9 compresses nearly as well as 11 in a tenth of
 * the time.
 */
const STATIC_QUALITY = 9;

/** Compresses static content once, on first use. */
function createEncoder(): (bytes: Buffer, encoding: Encoding) => Promise<Buffer> {
  const cache = { br: new WeakMap<Buffer, Promise<Buffer>>(), gzip: new WeakMap<Buffer, Promise<Buffer>>() };
  return async (bytes, encoding) => {
    if (encoding === 'identity') return bytes;
    const compressed = cache[encoding].get(bytes) ?? compress(bytes, encoding, STATIC_QUALITY);
    cache[encoding].set(bytes, compressed);
    return compressed;
  };
}
