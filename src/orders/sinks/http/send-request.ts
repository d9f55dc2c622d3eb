import { lookup } from 'node:dns';
import { request as requestPlain } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { request as requestSecure } from 'node:https';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { getErrorMessage } from '../../../base/index.js';
import { SinkError } from '../sink.js';
import { isPrivateAddress } from '../../../sandbox/index.js';

/** One request, with everything that bounds it. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly allowPrivateAddresses: boolean;
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const MAX_REDIRECTS = 3;

/**
 * Sends one request on a new connection and reads the answer. Never repeats a request; follows a redirect only on
 * the same host, and a POST only where the answer says to repeat it as it is (a renamed repository).
 */
export async function sendRequest(request: HttpRequest): Promise<HttpAnswer> {
  const deadline = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
  let url = new URL(request.url);
  for (let redirects = 0; ; redirects++) {
    const answer = await exchange({ ...request, signal }, url).catch((error: unknown) => {
      if (error instanceof SinkError) throw error;
      if (signal.aborted) {
        const message = `No answer from "${url.origin}" within ${request.timeoutMs} ms.`;
        throw new SinkError('SINK_TIMED_OUT', message, { cause: error });
      }
      const message = `Cannot reach "${url.origin}": ${getErrorMessage(error)}.`;
      throw new SinkError('SINK_UNREACHABLE', message, { cause: error });
    });
    const target = findRedirect(answer, url, request.method);
    if (target === undefined || redirects === MAX_REDIRECTS) return answer;
    url = target;
  }
}

function findRedirect({ status, headers }: HttpAnswer, from: URL, method: HttpRequest['method']): URL | undefined {
  const mayFollow = status === 307 || status === 308 || (method === 'GET' && (status === 301 || status === 302));
  if (!mayFollow || headers.location === undefined || !URL.canParse(headers.location, from)) return undefined;
  const target = new URL(headers.location, from);
  return target.origin === from.origin ? target : undefined;
}

function exchange(request: HttpRequest & { readonly signal: AbortSignal }, url: URL): Promise<HttpAnswer> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // An IP address needs no DNS lookup.
  if (isIP(host) !== 0 && !request.allowPrivateAddresses && isPrivateAddress(host)) throw refuse(host, host);
  const options: RequestOptions = {
    method: request.method,
    headers: { ...request.headers, ...formatLength(request.body) },
    agent: false,
    signal: request.signal,
    ...(request.allowPrivateAddresses ? {} : { lookup: lookUpPublic }),
  };
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestSecure : requestPlain;
    const outgoing = send(url, options, (incoming) => {
      readAnswer(incoming, request.maxResponseBytes).then(resolve, (error: unknown) => {
        outgoing.destroy();
        reject(error);
      });
    });
    outgoing.on('error', reject);
    outgoing.end(request.body);
  });
}

function formatLength(body: string | undefined): Record<string, string> {
  return body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
}

async function readAnswer(incoming: IncomingMessage, maxBytes: number): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new SinkError(
        'SINK_ANSWER_UNREADABLE',
        `Unexpected response: it is longer than ${maxBytes} bytes. Check that the address is that of the API.`,
      );
    }
    chunks.push(chunk);
  }
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

/** The check stands between resolving and connecting: a name cannot resolve to one address for us and another for the socket. */
const lookUpPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, []);
    const hidden = addresses.find(({ address }) => isPrivateAddress(address));
    if (hidden !== undefined) return callback(refuse(hostname, hidden.address), []);
    const [first] = addresses;
    if (options.all === true || first === undefined) return callback(null, addresses);
    return callback(null, first.address, first.family);
  });
};

function refuse(host: string, address: string): SinkError {
  return new SinkError(
    'SINK_PRIVATE_ADDRESS',
    `Cannot send to "${host}": its address ${address} is private. Set allowPrivateAddresses (in the configuration allow_private_addresses) if that is intended.`,
    { isPermanent: true },
  );
}

/** Longer than any sensible pause: a sink must not put a message off for ever. */
const MAX_PAUSE_MS = 3_600_000;

/** Passes an answer of success on and turns every other into a failure that says whether to try again, and when. */
export function checkStatus(answer: HttpAnswer, name: string, now: number): HttpAnswer {
  const { status } = answer;
  if (status >= 200 && status < 300) return answer;
  const said = answer.body.slice(0, 200).replaceAll(/\s+/g, ' ').trim();
  const isFinal = isPermanent(answer);
  const advice = isFinal ? ' Check its token, permissions and address.' : '';
  const message = `${name} answered with status ${status}${said === '' ? '' : ` (${said})`}.${advice}`;
  throw new SinkError('SINK_REFUSED', message, { isPermanent: isFinal, retryAfterMs: readPause(answer, now) });
}

/** A forge answers 403 both for missing rights and for too many requests; the second names a time. */
function isPermanent({ status, headers }: HttpAnswer): boolean {
  if (status === 403) return headers['retry-after'] === undefined && headers['x-ratelimit-remaining'] !== '0';
  return status < 500 && status !== 408 && status !== 425 && status !== 429;
}

function readPause({ headers }: HttpAnswer, now: number): number | undefined {
  const after = headers['retry-after'];
  const reset = headers['x-ratelimit-remaining'] === '0' ? headers['x-ratelimit-reset'] : undefined;
  let pause = Number.NaN;
  if (after !== undefined) pause = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now;
  else if (typeof reset === 'string') pause = Number(reset) * 1000 - now;
  return Number.isNaN(pause) ? undefined : Math.min(Math.max(pause, 0), MAX_PAUSE_MS);
}

/** Limits of every request of a forge's client. */
interface FetchBounds {
  /** As it is called in messages. */
  readonly name: string;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
  readonly clock: () => number;
}

/**
 * `fetch` for the clients of forges, over our own transport: bounded in time and size, no silent repetition, failures as
 * typed errors. The server's address is the operator's choice, so private ones are allowed.
 */
export function createFetch(bounds: FetchBounds): typeof globalThis.fetch {
  const { name, timeoutMs, maxResponseBytes, signal, clock } = bounds;
  return async (input, init = {}) => {
    const method = init.method ?? 'GET';
    if (method !== 'GET' && method !== 'POST') throw new TypeError(`${method} is not used by sinks`);
    const answer = await sendRequest({
      method,
      url: input instanceof Request ? input.url : String(input),
      headers: { 'user-agent': 'sluice', ...Object.fromEntries(new Headers(init.headers)) },
      ...(typeof init.body === 'string' ? { body: init.body } : {}),
      timeoutMs,
      maxResponseBytes,
      allowPrivateAddresses: true,
      signal,
    });
    checkStatus(answer, name, clock());
    try {
      JSON.parse(answer.body);
    } catch (error) {
      throw new SinkError(
        'SINK_ANSWER_UNREADABLE',
        `Unexpected response from ${name}: invalid JSON. Check that the base URL is that of the API.`,
        {
          cause: error,
        },
      );
    }
    return new Response(answer.body, {
      status: answer.status,
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
  };
}
