import type { NewOutboxMessage } from '../../records/index.js';
import { SinkError, formatMarker } from './sink.js';
import type { Delivery } from './sink.js';

/** A comment as far as looking for a marker needs it. */
export interface ForgeComment {
  readonly body: string;
  readonly address: string;
}

/** Asked for per page, the most that both forges give. */
export const COMMENTS_PER_PAGE = 100;

/** More comments than a forge keeps on one issue. */
const MAX_PAGES = 1000;

/**
 * Looks through all comments of an issue for a message's marker, page by page to the first empty one: a page that is not
 * full is not the end, since a server may return fewer than requested.
 */
export async function findComment(
  message: NewOutboxMessage,
  readPage: (page: number) => Promise<readonly ForgeComment[]>,
): Promise<Delivery | undefined> {
  const marker = formatMarker(message);
  for (let page = 1; page <= MAX_PAGES; page++) {
    const comments = await readPage(page);
    if (comments.length === 0) return undefined;
    const found = comments.find(({ body }) => body.includes(marker));
    if (found !== undefined) return { deliveredTo: found.address };
  }
  throw new SinkError(
    'SINK_TOO_MANY_COMMENTS',
    `Cannot check whether the comment exists: "${message.issue_ref}" has more than ${MAX_PAGES} pages of comments. Write it by hand, then resolve the item.`,
    { isPermanent: true },
  );
}

/** Takes what is needed of a comment a forge sent; `address` names where it stands. */
export function readComment(value: unknown, address: (comment: object) => string): ForgeComment {
  if (typeof value !== 'object' || value === null) throw unreadable();
  const body = 'body' in value ? value.body : undefined;
  // A comment without text is possible; one without a body field is not a comment.
  if (typeof body !== 'string' && body !== null) throw unreadable();
  return { body: body ?? '', address: address(value) };
}

/** The comments of one page. */
export function readComments(value: unknown, address: (comment: object) => string): readonly ForgeComment[] {
  if (!Array.isArray(value)) throw unreadable();
  return value.map((comment: unknown) => readComment(comment, address));
}

function unreadable(): SinkError {
  return new SinkError(
    'SINK_ANSWER_UNREADABLE',
    'Unexpected response: it is not a comment. Check that the base URL is that of the API.',
  );
}

/** Options for writing comments to a forge. */
export interface ForgeOptions {
  /** An access token that may read and write comments. */
  readonly token: string;
  /** Of an own server; the public one by default. */
  readonly baseUrl?: string;
  readonly name?: string;
  /** Of one request; 20 seconds by default. */
  readonly timeoutMs?: number;
  readonly clock?: () => number;
}

/** A page of a hundred comments of the greatest length stays under this. */
export const MAX_PAGE_BYTES = 128 * 1024 * 1024;
