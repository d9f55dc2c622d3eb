import { describe, expect, test } from 'vitest';
import { BracketWalker, findNextBracket } from './bracket-walker.js';

/** Marks every position inside a JSON string with `s` and every other position with a dot. */
function markStrings(text: string): string {
  const walker = new BracketWalker(text);
  return Array.from(text, (_, offset) => (walker.isInString(offset) ? 's' : '.')).join('');
}

function walkToEnd(text: string): number {
  return new BracketWalker(text).findEnd(text.length);
}

describe('isInString', () => {
  test('detects whether an offset is inside a JSON string', () => {
    expect(markStrings('{"a": "b c"}')).toBe('..ss...ssss.');
  });

  test('an escaped quote does not end a string', () => {
    expect(markStrings('["\\"", 1]')).toBe('..sss....');
  });

  test('quotes count only inside brackets', () => {
    expect(markStrings('say "x" {"a"}')).toBe('..........ss.');
  });

  test('ignores closing brackets in prose', () => {
    expect(markStrings('a] "b" } ["c"]')).toBe('...........ss.');
  });

  test('ignores text before its start', () => {
    const text = '<t>{"x</t>{"a"}';
    expect(new BracketWalker(text).isInString(10)).toBe(true);
    expect(new BracketWalker(text, 10).isInString(10)).toBe(false);
    expect(new BracketWalker(text, 10).isInString(12)).toBe(true);
  });
});

describe('findEnd', () => {
  test.each([
    ['{}', 2],
    ['{"a": {"b": [1]}} x', 17],
    ['{"a": "}"}', 10],
    ['{"a": "\\"}"}', 12],
    ['{"a": "\\\\"} }', 11],
    ['[{"]": 1}]', 10],
  ])('%s ends at %i', (text, end) => {
    expect(walkToEnd(text)).toBe(end);
  });

  test.each(['{', '{"a": 1', '{"a": "}', '[[]', 'x'])('%s never ends', (text) => {
    expect(walkToEnd(text)).toBe(-1);
  });

  test('starts and stops at the specified offsets', () => {
    expect(new BracketWalker('{ {a} y', 2).findEnd(7)).toBe(5);
    expect(new BracketWalker('{ {a} y', 2).findEnd(4)).toBe(-1);
  });
});

describe('findNextBracket', () => {
  test('finds the first bracket of the span', () => {
    expect(findNextBracket('a { b [', 0, 7)).toBe(2);
    expect(findNextBracket('a { b [', 3, 7)).toBe(6);
    expect(findNextBracket('a { b [', 3, 6)).toBe(-1);
  });
});
