import { lookup } from 'node:dns';
import { request as requestPlain } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { request as requestSecure } from 'node:https';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { getErrorMessage } from '../../../base/index.js';
import { parseJson } from '../../../base/files/index.js';
import { SinkError, throwIfCanceled, type ForgeFetch } from '../sink.js';
import { isPrivateAddress } from '../../../runs/sandbox/index.js';

/** One request with its limits. */
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

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const MAX_REDIRECTS = 3;

/**
 * Sends one request on a new connection and reads the response. Never repeats a request. Follows a redirect only to the same
 * origin, and for a POST only with status 307 or 308 (a renamed repository). If the caller aborts the signal, throws its reason.
 */
export async function sendRequest(request: HttpRequest): Promise<HttpResponse> {
  const deadline = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
  let url = new URL(request.url);
  for (let redirects = 0; ; redirects++) {
    const response = await exchange({ ...request, signal }, url).catch((error: unknown) => {
      if (error instanceof SinkError) throw error;
      throwIfCanceled(signal);
      if (signal.aborted) {
        const limit = deadline.aborted ? `within ${request.timeoutMs} ms` : "before the caller's timeout";
        const message = `No response from "${url.origin}" ${limit}.`;
        throw new SinkError('SINK_TIMED_OUT', message, { cause: error });
      }
      const message = `Cannot reach "${url.origin}": ${getErrorMessage(error)}.`;
      throw new SinkError('SINK_UNREACHABLE', message, { cause: error });
    });
    const target = findRedirect(response, url, request.method);
    if (target === undefined || redirects === MAX_REDIRECTS) return response;
    url = target;
  }
}

function findRedirect({ status, headers }: HttpResponse, from: URL, method: HttpRequest['method']): URL | undefined {
  const mayFollow = status === 307 || status === 308 || (method === 'GET' && (status === 301 || status === 302));
  if (!mayFollow || headers.location === undefined || !URL.canParse(headers.location, from)) return undefined;
  const target = new URL(headers.location, from);
  return target.origin === from.origin ? target : undefined;
}

function exchange(request: HttpRequest & { readonly signal: AbortSignal }, url: URL): Promise<HttpResponse> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // Node.js does not call `lookup` for an IP address, so it is checked here.
  if (isIP(host) !== 0 && !request.allowPrivateAddresses && isPrivateAddress(host))
    throw createPrivateAddressError(host, host);
  const options: RequestOptions = {
    method: request.method,
    headers: {
      ...request.headers,
      ...(request.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(request.body)) }),
    },
    agent: false,
    signal: request.signal,
    ...(request.allowPrivateAddresses ? {} : { lookup: lookUpPublic }),
  };
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestSecure : requestPlain;
    const outgoing = send(url, options, (incoming) => {
      readResponse(incoming, request.maxResponseBytes).then(resolve, (error: unknown) => {
        outgoing.destroy();
        reject(error);
      });
    });
    outgoing.on('error', reject);
    outgoing.end(request.body);
  });
}

async function readResponse(incoming: IncomingMessage, maxBytes: number): Promise<HttpResponse> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new SinkError(
        'SINK_ANSWER_UNREADABLE',
        `Unexpected response: it is longer than ${maxBytes} bytes. Check that the URL points to the API.`,
      );
    }
    chunks.push(chunk);
  }
  const { statusCode: status = 0, headers } = incoming;
  return { status, headers, body: Buffer.concat(chunks).toString('utf8') };
}

/** Checks the addresses that the socket connects to: a separate lookup beforehand could return others (DNS rebinding). */
const lookUpPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, []);
    const privateAddress = addresses.find(({ address }) => isPrivateAddress(address));
    if (privateAddress !== undefined) return callback(createPrivateAddressError(hostname, privateAddress.address), []);
    const [first] = addresses;
    if (options.all === true || first === undefined) return callback(null, addresses);
    return callback(null, first.address, first.family);
  });
};

function createPrivateAddressError(host: string, address: string): SinkError {
  return new SinkError(
    'SINK_PRIVATE_ADDRESS',
    `Cannot send to "${host}": its address ${address} is private. Set allowPrivateAddresses (allow_private_addresses in the configuration) if that is intended.`,
    { isPermanent: true },
  );
}

/** Longer than any sensible delay: a server must not be able to postpone a message forever. */
const MAX_PAUSE_MS = 3_600_000;

/** Throws unless the response status is 2xx. The error reports whether and when to retry. */
export function checkStatus(response: HttpResponse, name: string, now: number): void {
  const { status } = response;
  if (status >= 200 && status < 300) return;
  const detail = response.body.slice(0, 200).replaceAll(/\s+/g, ' ').trim();
  const isFinal = isPermanent(response);
  const advice = isFinal ? ' Check the token, its permissions and the URL.' : '';
  const message = `${name} responded with status ${status}${detail === '' ? '' : ` (${detail})`}.${advice}`;
  throw new SinkError('SINK_REFUSED', message, { isPermanent: isFinal, retryAfterMs: readPause(response, now) });
}

/**
 * A forge responds with 403 both to missing permissions and to too many requests; the latter has a header with a time.
 */
function isPermanent({ status, headers }: HttpResponse): boolean {
  if (status === 403) return headers['retry-after'] === undefined && headers['x-ratelimit-remaining'] !== '0';
  return status < 500 && status !== 408 && status !== 425 && status !== 429;
}

function readPause({ headers }: HttpResponse, now: number): number | undefined {
  const after = headers['retry-after'];
  const reset = headers['x-ratelimit-remaining'] === '0' ? headers['x-ratelimit-reset'] : undefined;
  let pause = Number.NaN;
  if (after !== undefined) pause = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now;
  else if (typeof reset === 'string') pause = Number(reset) * 1000 - now;
  return Number.isNaN(pause) ? undefined : Math.min(Math.max(pause, 0), MAX_PAUSE_MS);
}

/**
 * Creates a `fetch` for forge clients that uses our own transport: bounded in time and size, without retries, with
 * typed errors. `name` is the forge's name in messages. The operator chooses the server, so private addresses are allowed.
 */
export function createFetch({
  name,
  clock,
  ...limits
}: Pick<HttpRequest, 'timeoutMs' | 'maxResponseBytes' | 'signal'> & {
  readonly name: string;
  readonly clock: () => number;
}): ForgeFetch {
  return async (url, { method = 'GET', headers, body } = {}) => {
    if ((method !== 'GET' && method !== 'POST') || (body !== undefined && typeof body !== 'string'))
      throw new TypeError(`Sinks send only GET and POST requests with text, not ${method}.`);
    const response = await sendRequest({
      ...limits,
      method,
      url: String(url),
      headers: { 'user-agent': 'sluice', ...Object.fromEntries(new Headers(headers)) },
      ...(body === undefined ? {} : { body }),
      allowPrivateAddresses: true,
    });
    checkStatus(response, name, clock());
    if (parseJson(response.body) === undefined) {
      throw new SinkError(
        'SINK_ANSWER_UNREADABLE',
        `Unexpected response from ${name}: invalid JSON. Check that the base URL points to the API.`,
      );
    }
    const { status } = response;
    return new Response(response.body, { status, headers: { 'content-type': 'application/json; charset=utf-8' } });
  };
}
