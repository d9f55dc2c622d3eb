import { expect, test } from 'vitest';
import { weightOf } from './event-weight.js';

test('an event weighs what it says', () => {
  const empty = weightOf({ data: {} });
  expect(weightOf({ data: { text: 'x'.repeat(1000) } }) - empty).toBe(1000);
  expect(weightOf({ data: { input: { command: 'x'.repeat(500) } } }) - empty).toBe(500);
});
