import { SinkError } from './sink-error.js';
import type { ForgeComment } from './find-comment.js';

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
  return new SinkError('SINK_ANSWER_UNREADABLE', 'The answer is not a comment. Is the base URL that of an API?');
}
