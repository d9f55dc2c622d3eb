import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstDifference } from './replay-run-folder.js';

test('equal values do not differ, even with another order of keys', () => {
  expect(firstDifference({ a: 1, b: [null, 'x'] }, { b: [null, 'x'], a: 1 })).toBeUndefined();
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(firstDifference(value, structuredClone(value))).toBeUndefined();
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
])('%j and %j differ at %j', (stored, rebuilt, path, there, here) => {
  expect(firstDifference(stored, rebuilt)).toEqual({ path, stored: there, rebuilt: here });
});

function nested(end: string): unknown {
  let value: unknown = end;
  for (let depth = 0; depth < 3000; depth += 1) value = [value];
  return value;
}

test('depth does not matter', () => {
  expect(firstDifference(nested('a'), nested('b'))).toMatchObject({ stored: 'a', rebuilt: 'b' });
});
