import type { NewOutboxMessage } from '../../store/records/index.js';
import { checkStatus, sendRequest } from './http/send-request.js';
import { SinkError, formatMarker } from './sink.js';
import type { Delivery, PullRequest } from './sink.js';

/** The fields of a comment needed to find a marker. */
interface ForgeComment {
  readonly body: string;
  readonly address: string;
}

/** The largest page that both forges return. */
export const COMMENTS_PER_PAGE = 100;

/** More than a forge allows on one issue. */
const MAX_PAGES = 1000;

/**
 * Searches all comments of an issue for a message's marker, page by page up to the first empty page. A page that is not full
 * is not the end, because a server may return fewer comments than requested.
 */
export async function findComment(
  message: NewOutboxMessage,
  readPage: (page: number) => Promise<readonly ForgeComment[]>,
): Promise<Delivery | undefined> {
  const marker = formatMarker(message);
  for (let page = 1; page <= MAX_PAGES; page++) {
    const comments = await readPage(page);
    if (comments.length === 0) return undefined;
    const comment = comments.find(({ body }) => body.includes(marker));
    if (comment !== undefined) return { deliveredTo: comment.address };
  }
  throw new SinkError(
    'SINK_TOO_MANY_COMMENTS',
    `Cannot check whether the comment exists: "${message.issue_ref}" has more than ${MAX_PAGES} pages of comments. Write the comment by hand.`,
    { isPermanent: true },
  );
}

/** Parses a comment from a forge's response. */
export function readComment(value: unknown, readAddress: (comment: object) => string): ForgeComment {
  if (typeof value !== 'object' || value === null) throw createUnreadableError('a comment');
  const body = 'body' in value ? value.body : undefined;
  // A comment's body can be null, but not missing.
  if (typeof body !== 'string' && body !== null) throw createUnreadableError('a comment');
  return { body: body ?? '', address: readAddress(value) };
}

/** Parses one page of comments. */
export function readComments(value: unknown, readAddress: (comment: object) => string): readonly ForgeComment[] {
  if (!Array.isArray(value)) throw createUnreadableError('a comment');
  return value.map((comment: unknown) => readComment(comment, readAddress));
}

function createUnreadableError(expected: string): SinkError {
  return new SinkError(
    'SINK_ANSWER_UNREADABLE',
    `Unexpected response: it is not ${expected}. Check that the base URL points to the API.`,
  );
}

/** Returns the parsed reference of an issue, or throws if it does not have the forge's format. */
export function requireIssue<T>(issue: T | undefined, issueRef: string, forge: string, format: string): T {
  if (issue !== undefined) return issue;
  throw new SinkError('SINK_WRONG_ISSUE_REF', `Invalid ${forge} issue "${issueRef}". Write ${format}.`, {
    isPermanent: true,
  });
}

/** Options for writing comments to a forge. */
export interface ForgeOptions {
  /** An access token that may read and write comments. */
  readonly token: string;
  /** The URL of your own server; the public one by default. */
  readonly baseUrl?: string;
  readonly name?: string;
  /** Timeout of one request; 20 seconds by default. */
  readonly timeoutMs?: number;
  readonly clock?: () => number;
}

/** More than a page of a hundred comments of the maximum length. */
export const MAX_PAGE_BYTES = 128 * 1024 * 1024;

/** A request to a forge for one pull request. */
interface PullRequestQuery {
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
  if (pullRequest === undefined) throw createUnreadableError('a pull request');
  return pullRequest;
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
