import type { Client } from '../../../src/client/index.js';

/** A person's comment on a line, before it is sent. */
export type LineComment = NonNullable<Parameters<Client['resolveItem']>[0]['body']['comments']>[number];

/** A line of a file. */
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

/** Finds the comment on a line; undefined if there is none. */
export function findComment(comments: readonly LineComment[], place: LinePlace): LineComment | undefined {
  return comments.find((one) => isAt(one, place));
}

function isAt(one: LinePlace, other: LinePlace): boolean {
  return one.path === other.path && one.line === other.line && one.side === other.side;
}

/** Lists the comments that can be sent: those with text. */
export function listSaid(comments: readonly LineComment[]): readonly LineComment[] {
  return comments.filter(({ text }) => text.trim() !== '');
}
