import type { Context, MiddlewareHandler } from 'hono';
import { cors, RESPONSE_ALREADY_SENT } from './hono.js';
import { describeProblem } from './problem.js';
import { SECURITY_HEADERS } from '../security/headers.js';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** With a placeholder for the id: adding a field to a copy takes ten times as long as replacing it. */
const JSON_HEADERS = { ...SECURITY_HEADERS, 'content-type': 'application/json', 'x-request-id': '' };

/** Creates a response with the common headers from a value that is already JSON. */
export function createJsonResponse(
  json: string | Uint8Array<ArrayBuffer>,
  status: number,
  requestId: string,
): Response {
  return new Response(json, { status, headers: { ...JSON_HEADERS, 'x-request-id': requestId } });
}

/** Shorter responses fit into one packet anyway. */
const MIN_COMPRESSED_LENGTH = 1400;
/** Higher qualities take several times as long for a few percent. */
const QUALITY = 4;

/**
 * Creates the response to a GET request. A client that polls sends the tag of its last response, and gets 304 without a
 * body if nothing has changed. Other methods do not need this work: their responses are small, or never repeated.
 */
export async function createReadResponse(
  json: string | Uint8Array<ArrayBuffer>,
  { context, status, requestId }: { readonly context: Context; readonly status: number; readonly requestId: string },
): Promise<Response> {
  const tag = createTag(json);
  if (isCached(context.req.header('if-none-match'), tag))
    return new Response(null, { status: 304, headers: { etag: tag, 'x-request-id': requestId } });
  const encoding =
    json.length < MIN_COMPRESSED_LENGTH ? 'identity' : chooseEncoding(context.req.header('accept-encoding'));
  const body = encoding === 'identity' ? json : await compress(json, encoding, QUALITY);
  const response = createJsonResponse(body, status, requestId);
  response.headers.set('etag', tag);
  if (encoding !== 'identity') response.headers.set('content-encoding', encoding);
  return response;
}

export function createProblemResponse(
  error: unknown,
  requestId: string,
  otherHeaders: Readonly<Record<string, string>> = {},
): Response {
  const problem = describeProblem(error, requestId);
  const headers = {
    ...SECURITY_HEADERS,
    ...ADVICE_HEADERS[problem.status],
    'content-type': 'application/problem+json',
    'x-request-id': requestId,
    ...otherHeaders,
  };
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}

/** Headers that advise the client on what to do next, by status. */
const ADVICE_HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': 'Bearer realm="sluice"' },
  429: { 'retry-after': '60' },
  503: { 'retry-after': '5' },
};

/** Adds the common headers to a handler's response; headers that the handler set stay unchanged. */
export function completeResponse(response: Response, requestId: string): Response {
  if (response === RESPONSE_ALREADY_SENT) return response;
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  response.headers.set('x-request-id', requestId);
  return response;
}

const ALLOWED_HEADERS = [
  'authorization',
  'content-type',
  'last-event-id',
  'range',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
];
const EXPOSED_HEADERS = ['x-request-id', 'content-range', 'accept-ranges', 'x-total-bytes', 'retry-after'];

/** Allows pages of the configured origins to read responses. Cookies are never allowed: they must send a token. */
export function allowOrigins(origins: readonly string[], newRequestId: () => string): MiddlewareHandler {
  const allow = cors({
    origin: [...origins],
    allowHeaders: ALLOWED_HEADERS,
    exposeHeaders: EXPOSED_HEADERS,
    maxAge: 600,
  });
  return async (context, next) => {
    if (origins.includes(context.req.header('origin') ?? ''))
      context.res.headers.set('cross-origin-resource-policy', 'cross-origin');
    const preflight = await allow(context, next);
    return preflight === undefined ? undefined : completeResponse(preflight, newRequestId());
  };
}

/**
 * Creates a response body that is produced while it is read. `release` is called once: at the end, on failure, or when
 * the reader disconnects. The generator cannot release anything itself, because it might never be started.
 */
export function streamBody(
  chunks: AsyncGenerator<Uint8Array, void>,
  release: () => Promise<void> = async () => undefined,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { value, done } = await chunks.next();
            if (done === true) break;
            if (value.length === 0) continue;
            controller.enqueue(value);
            return;
          }
        } catch (error) {
          await release();
          throw error;
        }
        await release();
        controller.close();
      },
      async cancel() {
        await chunks.return();
        await release();
      },
    },
    { highWaterMark: 0 },
  );
}

export type Encoding = 'br' | 'gzip' | 'identity';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Compresses content outside the main thread. */
export async function compress(
  bytes: Uint8Array | string,
  encoding: Exclude<Encoding, 'identity'>,
  quality: number,
): Promise<Buffer<ArrayBuffer>> {
  if (encoding === 'gzip') return compressGzip(bytes, { level: quality });
  return compressBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
}

/**
 * Chooses the best encoding that the client accepts.
 *
 * @example
 * chooseEncoding('gzip, deflate, br') // 'br'
 * chooseEncoding('br;q=0, gzip') // 'gzip'
 */
export function chooseEncoding(accepted: string | undefined): Encoding {
  const names = new Set(
    (accepted ?? '')
      .split(',', 16)
      .map((part) => part.trim().toLowerCase())
      .filter((part) => !/;\s*q=0(?:\.0*)?$/.test(part))
      .map((part) => part.replace(/\s*;.*$/, '')),
  );
  return names.has('br') ? 'br' : names.has('gzip') ? 'gzip' : 'identity';
}

/** Creates the entity tag of a response: equal for equal content, however it is encoded. */
export function createTag(content: Uint8Array | string): string {
  return `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
}

/** Whether the client has this version: one of the tags in `If-None-Match` is its tag. */
export function isCached(header: string | undefined, tag: string): boolean {
  return header?.split(',', 16).some((part) => part.trim() === tag) ?? false;
}
