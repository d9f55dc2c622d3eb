import { expect, test } from 'vitest';
import { newRequestId } from './form.js';

test('generates a new id with its prefix each time', () => {
  expect(newRequestId()).toMatch(/^console-[\da-f]{32}$/);
  expect(newRequestId()).not.toBe(newRequestId());
});
