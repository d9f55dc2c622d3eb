import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatValue } from '../../ui/json-tree.js';

test('a short value is formatted like JSON.stringify does', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const expected = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
      expect(formatValue(value, 1_000_000)).toEqual({ text: expected, isShortened: false });
    }),
  );
});

test('a long value is truncated at the limit and marked as shortened', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 40 }), (value, limit) => {
      const fullText = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
      const { text, isShortened } = formatValue(value, limit);
      expect(isShortened).toBe(fullText.length > limit);
      expect(text).toBe(fullText.slice(0, limit));
    }),
  );
});

test('very deep values are replaced by an ellipsis', () => {
  let value: unknown = 1;
  for (let depth = 0; depth < 10_000; depth += 1) value = [value];
  expect(formatValue(value, 1_000_000).text).toContain('…');
});
