import type { Context, Hono } from 'hono';
import { answerProblem } from '../answer.js';
import { headerOf } from '../header-of.js';
import { CONSOLE_HEADERS, PAGE_HEADERS } from '../security/headers.js';
import type { ServerContext } from '../server-context.js';
import { chooseEncoding, createEncoder } from './encode-body.js';
import { CONSOLE_PAGE } from './read-console.js';
import type { ConsoleFile, ConsoleFiles } from './read-console.js';

/** The paths of the console's pages; each is made in the browser, in one and the same document. */
const PAGES = [
  '/',
  '/runs',
  '/runs/*',
  '/inbox',
  '/inbox/*',
  '/issues',
  '/issues/*',
  '/outbox',
  '/executions',
  '/audit',
  '/workbench',
  '/charts',
];

/**
 * Adds the console. Its files need no token: they hold nothing of anyone's, and whoever opens a page has no token to send
 * yet. What the pages show they ask for like everyone else.
 */
export function addConsole(
  app: Hono,
  { guard, newRequestId }: Pick<ServerContext, 'guard' | 'newRequestId'>,
  files: ConsoleFiles,
): void {
  const encode = createEncoder();

  const serve = (path: string, name: string, file: ConsoleFile, status: 200 | 404 = 200): void => {
    const fixed = headersOf(name, file);
    app.get(path, async (context: Context, next) => {
      if (status === 404 && !isNavigation(context)) return next();
      const requestId = newRequestId();
      try {
        guard.checkHost(context);
      } catch (error) {
        return answerProblem(error, requestId);
      }
      const headers: Record<string, string> = { ...fixed, 'x-request-id': requestId };
      if (status === 200 && isKnown(headerOf(context, 'if-none-match'), file.tag))
        return new Response(null, { status: 304, headers });
      const encoding = isText(file) ? chooseEncoding(headerOf(context, 'accept-encoding')) : 'identity';
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
  // After all other routes: a person who mistypes an address gets the console's own page for it.
  const page = files.get(CONSOLE_PAGE);
  if (page !== undefined) serve('*', CONSOLE_PAGE, page, 404);
}

function headersOf(name: string, { type, tag, isNamedByContent }: ConsoleFile): Record<string, string> {
  return {
    ...(name === CONSOLE_PAGE ? PAGE_HEADERS : {}),
    ...CONSOLE_HEADERS,
    'content-type': type,
    // Asked for again each time, and sent again only if it has changed: a new build is seen at once.
    'cache-control': isNamedByContent ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: `W/"${tag}"`,
    vary: 'accept-encoding',
  };
}

/** Whether a browser asks for a page at a path that is neither an endpoint's nor a file's. */
function isNavigation(context: Context): boolean {
  const { path } = context.req;
  if (path === '/v1' || path.startsWith('/v1/') || path.startsWith('/assets/') || /\.\w+$/.test(path)) return false;
  return /\btext\/html\b/.test(headerOf(context, 'accept') ?? '');
}

function isText({ type }: ConsoleFile): boolean {
  return /^text\/|json$|svg/.test(type);
}

/** Whether the reader has this very content. */
function isKnown(header: string | undefined, tag: string): boolean {
  return header?.split(',', 16).some((part) => part.trim() === `W/"${tag}"`) ?? false;
}
