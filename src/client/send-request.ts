import type { Endpoint, Problem } from '../api/index.js';
import { ClientError } from './client-error.js';

/** Where the server is and how to reach it. */
export interface ClientOptions {
  /** `http://127.0.0.1:7171`; in a page of the server itself, its own address is the default. */
  readonly url?: string;
  /** Sent as Bearer. Pages trade it for a cookie once, with `openSession`. */
  readonly token?: string;
  /** Another `fetch`, for tests and proxies. */
  readonly fetch?: typeof fetch;
}

/** A request by the parts that make it. */
export interface RequestParts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sends requests and throws what is no success as a {@link ClientError}. */
export type SendRequest = (endpoint: Pick<Endpoint, 'method' | 'path'>, parts: RequestParts) => Promise<Response>;

/** Makes what sends requests to a server. */
export function createSendRequest({ url = '', token, fetch: send = fetch }: ClientOptions): SendRequest {
  const base = url.replace(/\/+$/, '');
  return async ({ method, path }, { params = {}, query = {}, body, headers = {}, signal }) => {
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
    const answer = await send(`${base}${fillPath(path, params)}${queryText(query)}`, init).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw new ClientError('SERVER_UNREACHABLE', 'The server does not answer. Look whether it runs, and where.', {
        cause: error,
      });
    });
    if (answer.ok) return answer;
    throw await readProblem(answer);
  };
}

/** The value of an answer. */
export async function readJson(answer: Response): Promise<unknown> {
  try {
    return await answer.json();
  } catch (error) {
    throw new ClientError('ANSWER_UNREADABLE', 'The answer is not JSON. Look whether the address is that of Sluice.', {
      status: answer.status,
      cause: error,
    });
  }
}

function fillPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

function queryText(query: NonNullable<RequestParts['query']>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

async function readProblem(answer: Response): Promise<ClientError> {
  const { status } = answer;
  const told: unknown = await answer.json().catch(() => undefined);
  if (isProblem(told)) return new ClientError(told.code, told.detail, { status, problem: told });
  const message = `The answer has the status ${status} and says no more. Look whether the address is that of Sluice.`;
  return new ClientError('ANSWER_UNREADABLE', message, { status });
}

function isProblem(told: unknown): told is Problem {
  return (
    typeof told === 'object' &&
    told !== null &&
    'code' in told &&
    typeof told.code === 'string' &&
    'detail' in told &&
    typeof told.detail === 'string'
  );
}
