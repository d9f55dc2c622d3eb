import type { Client } from '../../../src/client/index.js';

/** What a person says about a line, before it is sent. */
export type LineComment = NonNullable<Parameters<Client['resolveItem']>[0]['body']['comments']>[number];

/** Which line of which file. */
export type LinePlace = Pick<LineComment, 'path' | 'line' | 'side'>;

/** The comments of a draft; what is broken in it is left out. */
export function readComments(text: string): readonly LineComment[] {
  let kept: unknown;
  try {
    kept = JSON.parse(text);
  } catch {
    return [];
  }
  return Array.isArray(kept) ? kept.filter(isComment) : [];
}

function isComment(value: unknown): value is LineComment {
  if (typeof value !== 'object' || value === null) return false;
  const { path, line, side, text } = value as Partial<Record<keyof LineComment, unknown>>;
  const isPlace = typeof path === 'string' && typeof line === 'number' && (side === 'old' || side === 'new');
  return isPlace && typeof text === 'string';
}

/** The comments with this one at its line; an empty text removes it. */
export function putComment(comments: readonly LineComment[], comment: LineComment): readonly LineComment[] {
  const others = comments.filter((one) => !isAt(one, comment));
  return comment.text === '' ? others : [...others, comment];
}

/** What is said about a line so far; undefined if nothing is. */
export function findComment(comments: readonly LineComment[], place: LinePlace): LineComment | undefined {
  return comments.find((one) => isAt(one, place));
}

function isAt(one: LinePlace, other: LinePlace): boolean {
  return one.path === other.path && one.line === other.line && one.side === other.side;
}

/** What can be sent: comments with words in them. */
export function listSaid(comments: readonly LineComment[]): readonly LineComment[] {
  return comments.filter(({ text }) => text.trim() !== '');
}
