import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createUlidGenerator } from './ulid.js';

test('an id has 26 digits, the time in the first ten', () => {
  const id = createUlidGenerator(() => 1_469_918_176_385)();
  expect(id).toMatch(/^01ARYZ6S41[0-9A-HJKMNP-TV-Z]{16}$/);
});

test('ids sort in order of creation, even if the clock is set back', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 2, maxLength: 50 }), (times) => {
      const left = [...times];
      const newId = createUlidGenerator(() => left.shift() ?? 0);
      const ids = times.map(() => newId());
      expect(ids.toSorted()).toEqual(ids);
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});

test('ids continue with the next millisecond when the random part overflows', () => {
  const newId = createUlidGenerator(
    () => 7,
    () => (1n << 80n) - 1n,
  );
  expect([newId(), newId(), newId()]).toEqual([
    '0000000007ZZZZZZZZZZZZZZZZ',
    '00000000080000000000000000',
    '00000000080000000000000001',
  ]);
});
