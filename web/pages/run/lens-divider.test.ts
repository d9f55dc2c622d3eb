import { expect, test } from 'vitest';
import { moveShare } from './lens-divider.js';

test('moving the divider shares the width of both neighbours, and neither becomes too narrow', () => {
  expect(moveShare(2, 0.25)).toEqual({ left: 0.5, right: 1.5 });
  expect(moveShare(2, -3)).toEqual({ left: 0.3, right: 1.7 });
  expect(moveShare(2, 3).right).toBeCloseTo(0.3);
});
