import { expect, test } from 'vitest';
import { divideWidth } from './panes.js';

test('the divider divides the combined width of its neighbours, and neither becomes too narrow', () => {
  expect(divideWidth(2, 0.25)).toEqual({ left: 0.5, right: 1.5 });
  expect(divideWidth(2, -3)).toEqual({ left: 0.3, right: 1.7 });
  expect(divideWidth(2, 3).right).toBeCloseTo(0.3);
});
