import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findFirstDifference } from './replay-run-folder.js';

test('finds no difference between equal values, regardless of key order', () => {
  expect(findFirstDifference({ a: 1, b: [null, 'x'] }, { b: [null, 'x'], a: 1 })).toBeUndefined();
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(findFirstDifference(value, structuredClone(value))).toBeUndefined();
    }),
  );
});

test.each([
  [{ a: 1, b: 2 }, { a: 1, b: 3 }, ['b'], 2, 3],
  [{ a: [1, { c: 'x' }] }, { a: [1, { c: 'y' }] }, ['a', 1, 'c'], 'x', 'y'],
  [{ a: 1 }, { a: 1, b: null }, ['b'], undefined, null],
  [[1, 2], [1], [1], 2, undefined],
  [{}, [], [], {}, []],
  [undefined, { a: 1 }, [], undefined, { a: 1 }],
  [JSON.parse('{"__proto__":1}'), {}, ['__proto__'], 1, undefined],
])('finds the first difference between %j and %j at %j', (stored, rebuilt, path, storedValue, rebuiltValue) => {
  expect(findFirstDifference(stored, rebuilt)).toEqual({ path, stored: storedValue, rebuilt: rebuiltValue });
});

function nested(end: string): unknown {
  let value: unknown = end;
  for (let depth = 0; depth < 3000; depth += 1) value = [value];
  return value;
}

test('finds a difference at any depth', () => {
  expect(findFirstDifference(nested('a'), nested('b'))).toMatchObject({ stored: 'a', rebuilt: 'b' });
});
