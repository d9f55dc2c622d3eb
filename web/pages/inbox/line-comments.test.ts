import { expect, test } from 'vitest';
import { findComment, listSendable, putComment, readComments } from './line-comments.js';

const one = { path: 'a.ts', line: 3, side: 'new', text: 'Why?' } as const;

test('a line has one comment: another text replaces it, and an empty text removes it', () => {
  const other = { ...one, side: 'old' } as const;
  const two = putComment(putComment([], one), other);
  expect(putComment(two, { ...one, text: 'Really?' })).toEqual([other, { ...one, text: 'Really?' }]);
  expect(putComment(two, { ...one, text: '' })).toEqual([other]);
  expect(findComment(two, { path: 'a.ts', line: 3, side: 'old' })).toEqual(other);
  expect(findComment(two, { path: 'b.ts', line: 3, side: 'old' })).toBeUndefined();
});

test('only comments with text are sent', () => {
  expect(listSendable([one, { ...one, line: 4, text: ' \n' }])).toEqual([one]);
});

test.each(['', '{', 'null', '{"path":"a"}', '[null, 1, {"path":"a","line":"1","side":"new","text":"x"}]'])(
  'an invalid draft has no comments: %s',
  (text) => {
    expect(readComments(text)).toEqual([]);
  },
);

test('the comments of a valid draft are read', () => {
  expect(readComments(JSON.stringify([one]))).toEqual([one]);
});
