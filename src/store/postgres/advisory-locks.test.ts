import { expect, it } from 'vitest';
import { ADVISORY_LOCKS } from './advisory-locks.js';

it('assigns each purpose its own lock', () => {
  const numbers = Object.values(ADVISORY_LOCKS);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(Math.min(...numbers)).toBeGreaterThan(0);
});
