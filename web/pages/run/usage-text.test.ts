import { expect, test } from 'vitest';
import { usageText } from './usage-text.js';

test('tells what is known and leaves out the rest', () => {
  expect(usageText({ input_tokens: 1200, output_tokens: 40, cost: 0.0123 })).toBe('1,200 in · 40 out · $0.0123');
  expect(usageText({ input_tokens: 5, cached_input_tokens: 3, output_tokens: 0 })).toBe('5 in · 3 cached · 0 out');
  expect(usageText({ input_tokens: 'many' })).toBe('');
  expect(usageText(undefined)).toBe('');
});
