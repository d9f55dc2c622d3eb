import { expect, test } from 'vitest';
import { advance, chooseLongerTimes, readSliderMoment, chooseSliderStep } from './run-page.js';
import fc from 'fast-check';

test('a replay advances at the chosen speed', () => {
  expect(advance([0, 100, 5000], 0, 50, 1)).toBe(50);
  expect(advance([0, 1000, 5000], 0, 50, 10)).toBe(500);
});

test('a replay shortens long pauses', () => {
  expect(advance([0, 600_000], 0, 16, 1)).toBe(600_000 - 1500);
});

test('a replay ends with the last event', () => {
  expect(advance([0, 100], 90, 50, 1)).toBe(100);
  expect(advance([0, 100], 100, 50, 1)).toBe(100);
  expect(advance([], 7, 50, 1)).toBe(7);
});

test('a replay moves forward and reaches the end', () => {
  const gaps = fc.array(fc.nat(5000), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(gaps, fc.constantFrom(1, 5, 100), (list, speed) => {
      let sum = 0;
      const times = list.map((gap) => (sum += gap));
      let position = 0;
      let steps = 0;
      while (position < sum && steps < 100_000) {
        const next = advance(times, position, 16, speed);
        expect(next).toBeGreaterThan(position);
        position = next;
        steps += 1;
      }
      expect(position).toBe(sum);
    }),
  );
});

test('a replay uses the times of the pane that ends later', () => {
  expect(chooseLongerTimes([1, 2], [1, 5])).toEqual([1, 5]);
  expect(chooseLongerTimes([1, 5], [1, 2])).toEqual([1, 5]);
  expect(chooseLongerTimes([], [3])).toEqual([3]);
});

test('the last slider position shows everything, and every other position a time before the end', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000_000 }), (length) => {
      const step = chooseSliderStep(length);
      const last = length - (length % step);
      expect(readSliderMoment(last, 5000, 5000 + length)).toBeNull();
      expect(readSliderMoment(last - step, 5000, 5000 + length)).toBe(5000 + last - step);
    }),
  );
});
