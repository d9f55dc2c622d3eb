import { lookup } from 'node:dns';
import { request as requestPlain } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { request as requestSecure } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { errorMessageOf } from '../../../base/index.js';
import { SinkError } from '../sink-error.js';
import { isPrivateAddress } from './private-address.js';

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
 * Sends one request on a connection of its own and reads the answer. Never repeats a request; follows a redirect only on
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
        throw new SinkError(
          'SINK_TIMED_OUT',
          `${url.origin} did not answer within ${request.timeoutMs} ms; it is asked again.`,
          {
            cause: error,
          },
        );
      }
      const why = errorMessageOf(error);
      throw new SinkError('SINK_UNREACHABLE', `${url.origin} cannot be reached and is asked again: ${why}`, {
        cause: error,
      });
    });
    const target = redirectOf(answer, url, request.method);
    if (target === undefined || redirects === MAX_REDIRECTS) return answer;
    url = target;
  }
}

function redirectOf({ status, headers }: HttpAnswer, from: URL, method: HttpRequest['method']): URL | undefined {
  const mayFollow = status === 307 || status === 308 || (method === 'GET' && (status === 301 || status === 302));
  if (!mayFollow || headers.location === undefined || !URL.canParse(headers.location, from)) return undefined;
  const target = new URL(headers.location, from);
  return target.origin === from.origin ? target : undefined;
}

function exchange(request: HttpRequest & { readonly signal: AbortSignal }, url: URL): Promise<HttpAnswer> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // An address in numbers is connected to without a look-up.
  if (isIP(host) !== 0 && !request.allowPrivateAddresses && isPrivateAddress(host)) throw refuse(host, host);
  const options: RequestOptions = {
    method: request.method,
    headers: { ...request.headers, ...lengthOf(request.body) },
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

function lengthOf(body: string | undefined): Record<string, string> {
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
        `The answer is longer than ${maxBytes} bytes. Is the address that of an API?`,
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
    `${host} is ${address}, an address inside a network. Set allowPrivateAddresses (in the configuration allow_private_addresses) if the sink belongs there.`,
    { isPermanent: true },
  );
}
