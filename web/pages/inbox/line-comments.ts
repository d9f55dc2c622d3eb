import type { Client } from '../../../src/client/index.js';

/** A user's comment on a line, before it is sent. */
export type LineComment = NonNullable<Parameters<Client['resolveItem']>[0]['body']['comments']>[number];

/** The position of a line in a change. */
export type LinePosition = Pick<LineComment, 'path' | 'line' | 'side'>;

/** Reads a draft's comments; invalid ones are skipped. */
export function readComments(text: string): readonly LineComment[] {
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch {
    return [];
  }
  return Array.isArray(stored) ? stored.filter(isComment) : [];
}

function isComment(value: unknown): value is LineComment {
  if (typeof value !== 'object' || value === null) return false;
  const { path, line, side, text } = value as Partial<Record<keyof LineComment, unknown>>;
  const hasPosition = typeof path === 'string' && typeof line === 'number' && (side === 'old' || side === 'new');
  return hasPosition && typeof text === 'string';
}

/** Adds or replaces the comment on a line; an empty comment removes it. */
export function putComment(comments: readonly LineComment[], comment: LineComment): readonly LineComment[] {
  const otherComments = comments.filter((known) => !isSamePosition(known, comment));
  return comment.text === '' ? otherComments : [...otherComments, comment];
}

/** Finds the comment on a line. */
export function findComment(comments: readonly LineComment[], position: LinePosition): LineComment | undefined {
  return comments.find((comment) => isSamePosition(comment, position));
}

function isSamePosition(one: LinePosition, other: LinePosition): boolean {
  return one.path === other.path && one.line === other.line && one.side === other.side;
}

/** Lists the comments to send; empty ones are skipped. */
export function listSendable(comments: readonly LineComment[]): readonly LineComment[] {
  return comments.filter(({ text }) => text.trim() !== '');
}
