import { expect, test } from 'vitest';
import { newRequestId } from './client.js';

test('says where it comes from, and is another each time', () => {
  expect(newRequestId()).toMatch(/^console-[\da-f]{32}$/);
  expect(newRequestId()).not.toBe(newRequestId());
});
