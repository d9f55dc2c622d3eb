import type { Endpoint, Problem } from '../api/index.js';
import { SluiceError } from '../../base/index.js';

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

interface RequestParts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sends requests; throws a {@link ClientError} unless the response is a success. */
export type SendRequest = (endpoint: Pick<Endpoint, 'method' | 'path'>, parts: RequestParts) => Promise<Response>;

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

/** Error codes of the client itself. A closed list: `docs/errors.md` describes how to handle each. */
export const CLIENT_ERROR_CODES = ['SERVER_UNREACHABLE', 'ANSWER_UNREADABLE', 'STREAM_LOST', 'EVENTS_MISSING'] as const;

/** One of {@link CLIENT_ERROR_CODES}. */
export type ClientErrorCode = (typeof CLIENT_ERROR_CODES)[number];

/**
 * A failed request. If the server refused it, the error has the server's code and problem details. If there was no
 * response, or the response could not be used, the code is one of {@link CLIENT_ERROR_CODES}.
 *
 * @example
 * try { await client.resolveItem({ id, body }) } catch (error) {
 *   if (isSluiceError(error) && error.code === 'CONFLICT') reloadItem()
 * }
 */
export class ClientError extends SluiceError {
  override readonly name = 'ClientError';
  /** The HTTP status of the response; null without a response, or if an event stream failed. */
  readonly status: number | null;
  readonly problem: Problem | null;

  constructor(code: string, message: string, { status = null, problem = null, ...options }: ClientErrorDetails = {}) {
    super(code, message, options);
    this.status = status;
    this.problem = problem;
  }
}

/** The details of a failure. */
export interface ClientErrorDetails {
  readonly status?: number | null;
  readonly problem?: Problem | null;
  readonly cause?: unknown;
}

interface NodeProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  getBuiltinModule?(name: string): unknown;
}

/**
 * Finds the default token: `SLUICE_TOKEN` or, for a server on this host, the token that `sluice serve` generated for
 * this user. Undefined in a browser.
 */
export function findToken(url: string): string | undefined {
  const { process: node }: { readonly process?: NodeProcess } = globalThis;
  const environmentToken = node?.env['SLUICE_TOKEN'] ?? '';
  if (environmentToken !== '') return environmentToken;
  // Never sent to another host: that would leak the token.
  if (node?.getBuiltinModule === undefined || !isLoopback(url)) return undefined;
  const { XDG_DATA_HOME: data = '', HOME: home = '' } = node.env;
  try {
    // Not imported, because this file is also loaded in browsers.
    const files = node.getBuiltinModule('node:fs') as { readFileSync(path: string, encoding: 'utf8'): string };
    const os = node.getBuiltinModule('node:os') as { homedir(): string };
    const folder = data.startsWith('/') ? data : `${home.startsWith('/') ? home : os.homedir()}/.local/share`;
    const token = files.readFileSync(`${folder}/sluice/token`, 'utf8').trim();
    return token === '' ? undefined : token;
  } catch {
    return undefined;
  }
}

function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
