import { expect, test } from 'vitest';
import { moveShare } from './lens-divider.js';

test('two neighbours divide what they have, and none of them vanishes', () => {
  expect(moveShare(2, 0.25)).toEqual({ left: 0.5, right: 1.5 });
  expect(moveShare(2, -3)).toEqual({ left: 0.3, right: 1.7 });
  expect(moveShare(2, 3).right).toBeCloseTo(0.3);
});
