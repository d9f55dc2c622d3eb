import { checkStatus, sendRequest } from './http/send-request.js';
import { SinkError } from './sink.js';
import type { PullRequest } from './sink.js';

/** A request to a forge for one pull request. */
export interface PullRequestQuery {
  /** The forge's name in messages. */
  readonly forge: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: () => number;
  /** Parses the response; returns undefined if it is not a pull request. */
  readonly read: (response: object) => PullRequest | undefined;
}

/** More than enough for a pull request with a long description. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Looks up a pull request on a forge; undefined if no such number exists. */
export async function lookUpPullRequest(query: PullRequestQuery): Promise<PullRequest | undefined> {
  const { forge, url, headers, timeoutMs, signal, clock, read } = query;
  const limits = { timeoutMs, maxResponseBytes: MAX_BYTES, allowPrivateAddresses: true, signal };
  const defaults = { accept: 'application/json', 'user-agent': 'sluice' };
  const response = await sendRequest({ method: 'GET', url, headers: { ...defaults, ...headers }, ...limits });
  if (response.status === 404) return undefined;
  checkStatus(response, forge, clock());
  const value = parseObject(response.body);
  const pullRequest = value === undefined ? undefined : read(value);
  if (pullRequest !== undefined) return pullRequest;
  throw new SinkError(
    'SINK_ANSWER_UNREADABLE',
    'Unexpected response: it is not a pull request. Check that the base URL points to the API.',
  );
}

function parseObject(body: string): object | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a string inside a response: `readText(response, 'head', 'sha')`. */
export function readText(value: unknown, ...path: readonly string[]): string | undefined {
  let current = value;
  for (const key of path)
    current = typeof current === 'object' && current !== null ? Reflect.get(current, key) : undefined;
  return typeof current === 'string' ? current : undefined;
}
