import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context, Hono } from 'hono';
import { chooseEncoding, compress, createTag, isCached, type Encoding, createJsonResponse } from '../http/responses.js';
import { CONSOLE_HEADERS, PAGE_HEADERS, SECURITY_HEADERS } from '../security/headers.js';
import { createHash } from 'node:crypto';
import { createOpenApi, ENDPOINTS, type Endpoint, type OpenApi } from '../api/index.js';
import { VERSION } from '../../base/files/index.js';
import { escapeMarkup } from '../../base/index.js';
import type { ConsoleFile, ConsoleFiles, ServerContext } from '../server-context.js';

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

/** Reads the files of the built console; undefined if it is not built. Links are skipped; nothing else is served. */
export function readConsole(folder: string): ConsoleFiles | undefined {
  const files = new Map<string, ConsoleFile>();
  let total = 0;
  // Without a built console, the server works without it.
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true, recursive: true }) : [];
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
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
function addConsole(app: Hono, { newRequestId }: { readonly newRequestId: () => string }, files: ConsoleFiles): void {
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

/** The first visitor waits for the compression: 9 compresses nearly as well as 11 in a tenth of the time. */
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

/**
 * Adds `/docs` and `/openapi.json`. They contain no data, so they need no token. `/` is the console, or redirects to
 * `/docs` if the console is not built.
 */
export function addPages(app: Hono, server: ServerContext): void {
  const { newRequestId, settings, console } = server;
  const document = createOpenApi(VERSION, { https: settings.https, url: '/' });
  const docs = renderDocsPage(document);

  const addPage = (path: string, createResponse: (requestId: string) => Response): void => {
    app.get(path, () => createResponse(newRequestId()));
  };
  addPage('/openapi.json', (requestId) => createJsonResponse(JSON.stringify(document), 200, requestId));
  addPage('/docs', (requestId) => {
    const headers = { ...PAGE_HEADERS, 'content-security-policy': docs.policy, 'x-request-id': requestId };
    return new Response(docs.html, { headers });
  });
  if (console !== undefined) {
    addConsole(app, server, console);
    return;
  }
  addPage('/', (requestId) => {
    const headers = { ...SECURITY_HEADERS, location: '/docs', 'x-request-id': requestId };
    return new Response(null, { status: 302, headers });
  });
}

/** The console's colours and sizes, repeated here because this page loads no other file. */
const STYLE = `
:root { color-scheme: light dark; --page: light-dark(#f7f8f9, #121619); --card: light-dark(#fff, #1a2024); --sunken: light-dark(#eef1f3, #0d1113); --line: light-dark(#d5dbdf, #313a40); --text: light-dark(#1b2328, #e4e9ec); --dim: light-dark(#52606a, #a3b0b8); --accent: light-dark(#0b6478, #6cc6da); --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; }
* { box-sizing: border-box; }
body { display: grid; grid-template-columns: 23rem minmax(0, 1fr); margin: 0; font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; color: var(--text); background: var(--page); overflow-wrap: anywhere; }
a { color: var(--accent); }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1rem .75rem; border-right: 1px solid var(--line); background: var(--card); font-size: .82rem; }
nav a { display: block; padding: .15rem .6rem; border-radius: 8px; color: var(--text); text-decoration: none; font-family: var(--mono); }
nav a:hover { background: var(--sunken); }
nav .brand { margin-bottom: .75rem; color: var(--accent); font: 700 1.1rem/1.5 system-ui, sans-serif; }
nav b { display: inline-block; width: 2.6rem; color: var(--dim); font-weight: 400; }
main { max-width: 62rem; padding: 1.25rem 1.5rem 3rem; }
h1 { margin: 0 0 .5rem; font-size: 1.35rem; }
section { margin-top: 1rem; padding: 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); scroll-margin-top: 1rem; }
h2 { margin: 0; font: 600 1rem/1.5 var(--mono); }
h2 b { display: inline-block; min-width: 3.5rem; color: var(--accent); }
p { margin: .5rem 0; }
dl { display: grid; grid-template-columns: minmax(6rem, 10rem) minmax(0, 1fr); gap: .2rem 1rem; margin: .5rem 0; font-size: .9rem; }
dd { margin: 0; color: var(--dim); }
pre { margin: .4rem 0 0; padding: .8rem; border-radius: 8px; background: var(--sunken); overflow: auto; font: .8rem/1.5 var(--mono); max-height: 30rem; }
code { font-family: var(--mono); font-size: .9em; } summary { cursor: pointer; }
@media (max-width: 60rem) {
  body { grid-template-columns: minmax(0, 1fr); }
  nav { position: static; height: auto; max-height: 45vh; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 1rem .9rem 3rem; }
  dl { grid-template-columns: minmax(0, 1fr); } dd { margin-bottom: .3rem; }
}
`;

/** Renders the endpoint list as one page, without scripts or external files. */
export function renderDocsPage({ info }: OpenApi) {
  const endpoints = Object.entries<Endpoint>(ENDPOINTS);
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeMarkup(info.title)}: HTTP</title><style>${STYLE}</style></head>
<body>
<nav aria-label="Endpoints"><a class="brand" href="/">Sluice</a>${endpoints.map(([name, { method, path }]) => `<a href="#${name}"><b>${method}</b> ${escapeMarkup(path)}</a>`).join('')}</nav>
<main>
<h1>${escapeMarkup(info.title)} ${escapeMarkup(info.version)}</h1>
<p>${escapeMarkup(info.description)} The OpenAPI document is at <a href="/openapi.json">/openapi.json</a>.</p>
<p>If tokens are configured, send one as <code>Authorization: Bearer …</code>. Problems are <code>application/problem+json</code> with a <code>code</code> and a message that explains what to do; every response has an <code>x-request-id</code>.</p>
${endpoints.map(([name, endpoint]) => renderEndpoint(name, endpoint)).join('\n')}
</main>
</body>
</html>
`;
  const digest = createHash('sha256').update(STYLE).digest('base64');
  return {
    html,
    policy: `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}

function renderEndpoint(
  name: string,
  { method, path, scope, summary, query, body, response, problems }: Endpoint,
): string {
  const parameters = Object.entries(query ?? {}).map(
    ([parameter, schema]) =>
      `<dt><code>${escapeMarkup(parameter)}</code></dt><dd>${escapeMarkup(describeParameter(schema))}</dd>`,
  );
  return [
    `<section id="${name}" aria-label="${method} ${escapeMarkup(path)}">`,
    `<h2><b>${method}</b>${escapeMarkup(path)}</h2>`,
    `<p>${escapeMarkup(summary)} ${scope === 'none' ? 'No token needed.' : `Needs the scope <code>${scope}</code>.`}</p>`,
    ...(parameters.length === 0 ? [] : [`<dl>${parameters.join('')}</dl>`]),
    ...(body === undefined ? [] : [renderSchema('Request body', body)]),
    response.schema === undefined
      ? `<p>Response: <code>${[response.media, response.alternative].filter(Boolean).join('</code> or <code>')}</code>.</p>`
      : renderSchema(`Response ${response.status}`, response.schema),
    ...(problems === undefined ? [] : [`<p>Specific problem codes: <code>${problems.join(', ')}</code>.</p>`]),
    '</section>',
  ].join('\n');
}

/** Describes a query parameter in one line, with its restrictions. */
function describeParameter(schema: object): string {
  const { description = '', ...restrictions } = schema as { readonly description?: string };
  const limits = Object.entries(restrictions).map(
    ([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return description === '' ? limits.join(', ') : `${description} (${limits.join(', ')})`;
}

function renderSchema(title: string, schema: object): string {
  const text = escapeMarkup(JSON.stringify(schema, null, 2));
  return `<details><summary>${escapeMarkup(title)}</summary><pre>${text}</pre></details>`;
}
