import { expect, test } from 'vitest';
import { limitShare } from './panes.js';

test('neither neighbour of the divider becomes too narrow', () => {
  expect(limitShare(25)).toBe(25);
  expect(limitShare(-3)).toBe(15);
  expect(limitShare(120)).toBe(85);
});
