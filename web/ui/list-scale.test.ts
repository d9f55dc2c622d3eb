import { expect, test } from 'vitest';
import { scaleOf } from './list-scale.js';

test('a list that can be drawn is drawn as it is', () => {
  const scale = scaleOf(1000, 100);
  expect([scale.pageHeight, scale.toList(40), scale.toPage(40), scale.place(70, 40)]).toEqual([1000, 40, 40, 70]);
});

test('the ends of a list that is too high are the ends of the bar', () => {
  const scale = scaleOf(1_000_000, 100, 10_000);
  expect(scale.pageHeight).toBe(10_000);
  expect(scale.toList(0)).toBe(0);
  expect(scale.toList(10_000 - 100)).toBe(1_000_000 - 100);
});

test('a row of such a list stands as far from the edge as it is from where one is', () => {
  const scale = scaleOf(1_000_000, 100, 10_000);
  const scrollTop = scale.toPage(500_000);
  expect(scale.toList(scrollTop)).toBeCloseTo(500_000);
  expect(scale.place(500_030, scrollTop) - scrollTop).toBeCloseTo(30);
});
