import { describe, expect, test } from 'vitest';
import { JsonPosition, nextBracket } from './json-position.js';

/** The text with every place that lies inside a JSON string marked by `s`. */
function strings(text: string): string {
  const position = new JsonPosition(text);
  return Array.from(text, (_, offset) => (position.isInString(offset) ? 's' : '.')).join('');
}

describe('JsonPosition', () => {
  test('knows what lies inside a JSON string', () => {
    expect(strings('{"a": "b c"}')).toBe('..ss...ssss.');
  });

  test('an escaped quote does not end a string', () => {
    expect(strings('["\\"", 1]')).toBe('..sss....');
  });

  test('quotes count only inside brackets', () => {
    expect(strings('say "x" {"a"}')).toBe('..........ss.');
  });

  test('closing brackets in prose do no harm', () => {
    expect(strings('a] "b" } ["c"]')).toBe('...........ss.');
  });

  test('skipTo leaves out what lies between', () => {
    const position = new JsonPosition('<t>{"x</t>{"a"}');
    expect(position.isInString(0)).toBe(false);
    position.skipTo(10);
    expect(position.isInString(12)).toBe(true);
  });
});

describe('nextBracket', () => {
  test('finds the first bracket of the span', () => {
    expect(nextBracket('a { b [', 0, 7)).toBe(2);
    expect(nextBracket('a { b [', 3, 7)).toBe(6);
    expect(nextBracket('a { b [', 3, 6)).toBe(-1);
  });
});
