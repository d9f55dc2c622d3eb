import { omitUndefined } from '../../base/index.js';
import { parseJson } from '../../base/files/index.js';
import type { NewOutboxMessage } from '../../store/records/index.js';
import { checkStatus, createFetch, sendRequest } from './http/send-request.js';
import { SinkError, formatMarker, withMarker } from './sink.js';
import type { Delivery, ForgeFetch, PullRequest, Sink } from './sink.js';

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

/** The difference between forges; `T` is the parsed reference of an issue. */
interface Forge<T> {
  /** Its name in messages. */
  readonly title: string;
  /** How an issue is written, for messages. */
  readonly format: string;
  /** The host of its web pages. */
  readonly host: string;
  readonly parseIssue: (issueRef: string) => T | undefined;
  /** The responses are checked by the caller. */
  readonly connect: (fetch: ForgeFetch) => Promise<{
    readonly list: (issue: T, page: number) => Promise<unknown>;
    readonly add: (issue: T, body: string) => Promise<unknown>;
  }>;
  readonly readAddress: (comment: object, issue: T) => string;
  readonly pullRequest: {
    readonly getUrl: (issue: T, number: number) => string;
    readonly headers: Readonly<Record<string, string>>;
    /** Where its response has each field. */
    readonly fields: Readonly<Record<keyof PullRequest, readonly string[]>>;
  };
}

/** Creates a sink that comments on the issues of a forge. */
export function createForgeSink<T>(
  { name, timeoutMs = 20_000, clock = Date.now }: Omit<ForgeOptions, 'name'> & { readonly name: string },
  forge: Forge<T>,
): Sink {
  const { title, format, host, parseIssue, pullRequest } = forge;
  const findIssue = (issueRef: string): T => {
    const issue = parseIssue(issueRef);
    if (issue !== undefined) return issue;
    throw new SinkError('SINK_WRONG_ISSUE_REF', `Invalid ${title} issue "${issueRef}". Write ${format}.`, {
      isPermanent: true,
    });
  };
  const connect = async (signal: AbortSignal) =>
    forge.connect(createFetch({ name: title, timeoutMs, maxResponseBytes: MAX_PAGE_BYTES, signal, clock }));

  return {
    name,
    timeoutMs,
    accepts: (issueRef) => parseIssue(issueRef) !== undefined,
    pullRequests: {
      host,
      /** Returns undefined if no such number exists. */
      async find(issueRef, number, signal) {
        const url = pullRequest.getUrl(findIssue(issueRef), number);
        const headers = { accept: 'application/json', 'user-agent': 'sluice', ...pullRequest.headers };
        const limits = { timeoutMs, maxResponseBytes: MAX_BYTES, allowPrivateAddresses: true, signal };
        const response = await sendRequest({ method: 'GET', url, headers, ...limits });
        if (response.status === 404) return undefined;
        checkStatus(response, title, clock());
        const value = parseJson(response.body);
        const head = readText(value, pullRequest.fields.head);
        const address = readText(value, pullRequest.fields.address);
        // GitLab adds the number of the merge request.
        const repository = readText(value, pullRequest.fields.repository)?.replace(/!\d+$/, '');
        if (head === undefined || address === undefined) throw createUnreadableError('a pull request');
        return { head, address, ...omitUndefined({ repository }) };
      },
    },
    async find(message, signal) {
      const client = await connect(signal);
      const issue = findIssue(message.issue_ref);
      return findComment(message, async (page) => {
        const comments = await client.list(issue, page);
        if (!Array.isArray(comments)) throw createUnreadableError('a comment');
        return comments.map((comment: unknown) => readComment(comment, (each) => forge.readAddress(each, issue)));
      });
    },
    async send(message, signal) {
      const client = await connect(signal);
      const issue = findIssue(message.issue_ref);
      const sent = await client.add(issue, withMarker(message));
      return { deliveredTo: readComment(sent, (each) => forge.readAddress(each, issue)).address };
    },
  };
}

/** The largest page that both forges return. */
export const COMMENTS_PER_PAGE = 100;

/** More than a forge allows on one issue. */
const MAX_PAGES = 1000;

/**
 * Searches all comments of an issue for a message's marker, page by page up to the first empty page. A page that is not full
 * is not the end, because a server may return fewer comments than requested.
 */
async function findComment(
  message: NewOutboxMessage,
  readPage: (page: number) => Promise<readonly ReturnType<typeof readComment>[]>,
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

/** Parses a comment from a forge's response: the fields needed to find a marker. */
function readComment(value: unknown, readAddress: (comment: object) => string) {
  if (typeof value !== 'object' || value === null) throw createUnreadableError('a comment');
  const body = 'body' in value ? value.body : undefined;
  // A comment's body can be null, but not missing.
  if (typeof body !== 'string' && body !== null) throw createUnreadableError('a comment');
  return { body: body ?? '', address: readAddress(value) };
}

function createUnreadableError(expected: string): SinkError {
  return new SinkError(
    'SINK_ANSWER_UNREADABLE',
    `Unexpected response: it is not ${expected}. Check that the base URL points to the API.`,
  );
}

/** More than a page of a hundred comments of the maximum length. */
const MAX_PAGE_BYTES = 128 * 1024 * 1024;
/** More than enough for a pull request with a long description. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads a string inside a response: `readText(response, ['head', 'sha'])`. */
function readText(value: unknown, path: readonly string[]): string | undefined {
  let current = value;
  for (const key of path)
    current = typeof current === 'object' && current !== null ? Reflect.get(current, key) : undefined;
  return typeof current === 'string' ? current : undefined;
}
