import type { Endpoint, Problem } from '../api/index.js';
import { ClientError } from './client-error.js';
import { findToken } from './local-token.js';

/** The server's URL and how to authenticate. */
export interface ClientOptions {
  /** For example `http://127.0.0.1:7171`. In pages served by the server itself, the default is the page's origin. */
  readonly url?: string;
  /**
   * Sent as a bearer token. Pages exchange it for a cookie with `openSession`. By default `SLUICE_TOKEN` or, for a
   * server on this host, the token that `sluice serve` generated for this user.
   */
  readonly token?: string;
  /** Another `fetch`, for tests and proxies. */
  readonly fetch?: typeof fetch;
}

/** The parts of a request. */
export interface RequestParts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sends requests; throws a {@link ClientError} unless the response is a success. */
export type SendRequest = (endpoint: Pick<Endpoint, 'method' | 'path'>, parts: RequestParts) => Promise<Response>;

/** Creates the function that sends requests to a server. */
export function createSendRequest({ url = '', token: explicitToken, fetch: send = fetch }: ClientOptions): SendRequest {
  const base = url.replace(/\/+$/, '');
  return async ({ method, path }, { params = {}, query = {}, body, headers = {}, signal }) => {
    // Looked up for each request, because the token can be replaced during the client's lifetime.
    const token = explicitToken ?? findToken(base);
    const init: RequestInit = {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    };
    const response = await send(`${base}${fillPath(path, params)}${formatQuery(query)}`, init).catch(
      (error: unknown) => {
        signal?.throwIfAborted();
        throw new ClientError(
          'SERVER_UNREACHABLE',
          'Cannot reach the server. Check that it is running and that the address is correct.',
          {
            cause: error,
          },
        );
      },
    );
    if (response.ok) return response;
    throw await readProblem(response, signal);
  };
}

/** Receives a response body. If the connection breaks, throws the abort reason or `SERVER_UNREACHABLE`. */
export async function receive<T>(
  { status }: Response,
  signal: AbortSignal | undefined,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    signal?.throwIfAborted();
    const message = 'The connection broke before the response was complete. Check that the server is running.';
    throw new ClientError('SERVER_UNREACHABLE', message, { status, cause: error });
  }
}

/** Parses a JSON response body. */
export async function readJson(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  const text = await receive(response, signal, async () => response.text());
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ClientError(
      'ANSWER_UNREADABLE',
      'The response is not valid JSON. Check that the address belongs to a Sluice server.',
      {
        status: response.status,
        cause: error,
      },
    );
  }
}

function fillPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

function formatQuery(query: NonNullable<RequestParts['query']>): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return parameters.length === 0 ? '' : `?${new URLSearchParams(parameters).toString()}`;
}

async function readProblem(response: Response, signal: AbortSignal | undefined): Promise<ClientError> {
  const { status } = response;
  const body: unknown = await response.json().catch(() => undefined);
  signal?.throwIfAborted();
  if (isProblem(body)) return new ClientError(body.code, body.detail, { status, problem: body });
  const message = `The response has status ${status} without details. Check that the address belongs to a Sluice server.`;
  return new ClientError('ANSWER_UNREADABLE', message, { status });
}

function isProblem(body: unknown): body is Problem {
  return (
    typeof body === 'object' &&
    body !== null &&
    'code' in body &&
    typeof body.code === 'string' &&
    'detail' in body &&
    typeof body.detail === 'string'
  );
}
