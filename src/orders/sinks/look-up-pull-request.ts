import { checkStatus, sendRequest } from './http/send-request.js';
import { SinkError } from './sink.js';
import type { PullRequest } from './sink.js';

/** One question to a forge. */
export interface PullRequestQuery {
  /** Name of the forge in messages. */
  readonly forge: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: () => number;
  /** Takes what is needed of the answer; undefined if it is not a pull request. */
  readonly read: (answer: object) => PullRequest | undefined;
}

/** A pull request with a long description, as the forges send it. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Asks a forge for one pull request; undefined if it has none of that number. */
export async function lookUpPullRequest(query: PullRequestQuery): Promise<PullRequest | undefined> {
  const { forge, url, headers, timeoutMs, signal, clock, read } = query;
  const limits = { timeoutMs, maxResponseBytes: MAX_BYTES, allowPrivateAddresses: true, signal };
  const agent = { accept: 'application/json', 'user-agent': 'sluice' };
  const answer = await sendRequest({ method: 'GET', url, headers: { ...agent, ...headers }, ...limits });
  if (answer.status === 404) return undefined;
  checkStatus(answer, forge, clock());
  const value = parseObject(answer.body);
  const found = value === undefined ? undefined : read(value);
  if (found !== undefined) return found;
  throw new SinkError(
    'SINK_ANSWER_UNREADABLE',
    'Unexpected response: it is not a pull request. Check that the base URL is that of the API.',
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

/** A text inside an answer: `readText(answer, 'head', 'sha')`. */
export function readText(value: unknown, ...path: readonly string[]): string | undefined {
  let at = value;
  for (const key of path) at = typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined;
  return typeof at === 'string' ? at : undefined;
}
