import fc from 'fast-check';
import { expect, it } from 'vitest';
import { locatePath, findLineAndColumn } from './locate-path.js';

const locate = (text: string, ...path: (string | number)[]): string | null => {
  const span = locatePath(text, 0, path);
  return span === null ? null : text.slice(span.start, span.end);
};

it.each([
  ['{"a": [1, 23]}', ['a', 1], '23'],
  ['{"a": {"b": "x, }"}, "c": 1}', ['a', 'b'], '"x, }"'],
  ["{a: 'b', /* c: 1 */ d: True,}", ['d'], 'True'],
  ['{"a": 1, "a": 2}', ['a'], '2'],
  ['[1, 2', [1], '2'],
  ['{"a": [1, 2', ['a'], '[1, 2'],
  ['{"a/b": {"\\u0063": 0}}', ['a/b', 'c'], '0'],
])('in %s, the path %j leads to %s', (text, path, expected) => {
  expect(locate(text, ...path)).toBe(expected);
});

it.each([
  ['{"a": 1}', ['b']],
  ['[1]', [3]],
  ['{"a" 1}', ['a']],
  ['{"a": "open', ['a']],
  ['plain', ['a']],
])('in %s, the path %j cannot be located', (text, path) => {
  expect(locate(text, ...path)).toBeNull();
});

it('every path in every valid JSON document is located', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      for (const [path, part] of listPaths(JSON.parse(text))) {
        const span = locate(text, ...path);
        expect(span === null ? undefined : JSON.parse(span)).toEqual(part);
      }
    }),
  );
});

it('the start of an unclosed comment is read as a word', () => {
  expect(locate(`[${'/* '.repeat(100_000)}`, 5)).toBe('/*');
});

function* listPaths(value: unknown, path: (string | number)[] = []): Generator<[(string | number)[], unknown]> {
  yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value))
    yield* listPaths(part, [...path, Array.isArray(value) ? Number(key) : key]);
}

it.each([
  ['a\nbc', 0, [1, 1]],
  ['a\nbc', 3, [2, 2]],
  ['a\r\nb', 3, [2, 1]],
  ['abc', 9, [1, 10]],
])('in %j, the offset %d is in line and column %j', (text, offset, expected) => {
  expect(findLineAndColumn(text, offset)).toEqual(expected);
});
