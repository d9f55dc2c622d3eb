import { expect, test } from 'vitest';
import { findComment, listSendable, putComment, readComments } from './decision.js';

const comment = { path: 'a.ts', line: 3, side: 'new', text: 'Why?' } as const;

test('a line has one comment: a new one replaces it, and an empty one removes it', () => {
  const otherSide = { ...comment, side: 'old' } as const;
  const comments = putComment(putComment([], comment), otherSide);
  expect(putComment(comments, { ...comment, text: 'Really?' })).toEqual([otherSide, { ...comment, text: 'Really?' }]);
  expect(putComment(comments, { ...comment, text: '' })).toEqual([otherSide]);
  expect(findComment(comments, { path: 'a.ts', line: 3, side: 'old' })).toEqual(otherSide);
  expect(findComment(comments, { path: 'b.ts', line: 3, side: 'old' })).toBeUndefined();
});

test('only comments with text are sent', () => {
  expect(listSendable([comment, { ...comment, line: 4, text: ' \n' }])).toEqual([comment]);
});

test.each(['', '{', 'null', '{"path":"a"}', '[null, 1, {"path":"a","line":"1","side":"new","text":"x"}]'])(
  'an invalid draft has no comments: %s',
  (text) => {
    expect(readComments(text)).toEqual([]);
  },
);

test("a valid draft's comments are read", () => {
  expect(readComments(JSON.stringify([comment]))).toEqual([comment]);
});
