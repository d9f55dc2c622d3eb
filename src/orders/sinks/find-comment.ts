import type { NewOutboxMessage } from '../../store/records/index.js';
import { SinkError, formatMarker } from './sink.js';
import type { Delivery } from './sink.js';

/** The fields of a comment needed to find a marker. */
export interface ForgeComment {
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
  if (typeof value !== 'object' || value === null) throw createUnreadableError();
  const body = 'body' in value ? value.body : undefined;
  // A comment's body can be null, but not missing.
  if (typeof body !== 'string' && body !== null) throw createUnreadableError();
  return { body: body ?? '', address: readAddress(value) };
}

/** Parses one page of comments. */
export function readComments(value: unknown, readAddress: (comment: object) => string): readonly ForgeComment[] {
  if (!Array.isArray(value)) throw createUnreadableError();
  return value.map((comment: unknown) => readComment(comment, readAddress));
}

function createUnreadableError(): SinkError {
  return new SinkError(
    'SINK_ANSWER_UNREADABLE',
    'Unexpected response: it is not a comment. Check that the base URL points to the API.',
  );
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
