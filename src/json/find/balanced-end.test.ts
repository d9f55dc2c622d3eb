import { describe, expect, test } from 'vitest';
import { balancedEnd } from './balanced-end.js';

describe('balancedEnd', () => {
  test.each([
    ['{}', 2],
    ['{"a": {"b": [1]}} x', 17],
    ['{"a": "}"}', 10],
    ['{"a": "\\"}"}', 12],
    ['{"a": "\\\\"} }', 11],
    ['[{"]": 1}]', 10],
  ])('%s ends at %i', (text, end) => {
    expect(balancedEnd(text, 0, text.length)).toBe(end);
  });

  test.each(['{', '{"a": 1', '{"a": "}', '[[]'])('%s never ends', (text) => {
    expect(balancedEnd(text, 0, text.length)).toBe(-1);
  });

  test('starts and stops where it is told', () => {
    expect(balancedEnd('x {a} y', 2, 7)).toBe(5);
    expect(balancedEnd('x {a} y', 2, 4)).toBe(-1);
  });
});
