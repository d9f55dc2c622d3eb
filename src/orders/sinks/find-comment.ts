import type { NewOutboxMessage } from '../../records/index.js';
import { markerOf } from './marker.js';
import { SinkError } from './sink-error.js';
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
 * full is no sign of the end, since a server may give fewer than asked for.
 */
export async function findComment(
  message: NewOutboxMessage,
  readPage: (page: number) => Promise<readonly ForgeComment[]>,
): Promise<Delivery | undefined> {
  const marker = markerOf(message);
  for (let page = 1; page <= MAX_PAGES; page++) {
    const comments = await readPage(page);
    if (comments.length === 0) return undefined;
    const found = comments.find(({ body }) => body.includes(marker));
    if (found !== undefined) return { deliveredTo: found.address };
  }
  throw new SinkError(
    'SINK_TOO_MANY_COMMENTS',
    `${message.issue_ref} has more than ${MAX_PAGES} pages of comments: whether the comment is there cannot be told. Write it by hand, then resolve the item.`,
    { isPermanent: true },
  );
}
