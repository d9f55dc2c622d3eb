import { expect, test } from 'vitest';
import { createRowCache } from './pane-list.js';

test('a row is drawn again only when something it depends on has changed', () => {
  const cache = createRowCache();
  let renderCount = 0;
  const draw = (): string => `drawing ${(renderCount += 1)}`;
  const event = {};
  expect(cache(7, [event, false], draw)).toBe('drawing 1');
  expect(cache(7, [event, false], draw)).toBe('drawing 1');
  expect(cache(7, [event, true], draw)).toBe('drawing 2');
  expect(cache(8, [event, true], draw)).toBe('drawing 3');
});

test('rows that were drawn long ago are dropped', () => {
  const cache = createRowCache();
  let renderCount = 0;
  const draw = (): string => `drawing ${(renderCount += 1)}`;
  for (let index = 0; index < 1000; index += 1) cache(index, [], draw);
  cache(0, [], draw);
  expect(renderCount).toBe(1001);
  cache(999, [], draw);
  expect(renderCount).toBe(1001);
});
