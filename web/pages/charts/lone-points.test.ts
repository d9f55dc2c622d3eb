import { expect, test } from 'vitest';
import { lonePoints } from './lone-points.js';

test.each([
  [[], []],
  [[7], [0]],
  [[1, 2], []],
  [
    [null, 0, null, 1, 2, null, 3],
    [1, 6],
  ],
])('of %j alone stand %j', (values, expected) => {
  expect(lonePoints(values)).toEqual(expected);
});
