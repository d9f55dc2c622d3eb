import { expect, test } from 'vitest';
import { result } from '../fixtures/order.js';
import { findMissingEvidence, isNoneLike } from './missing-evidence.js';

const listCodes = (changes: object) => findMissingEvidence({ ...result, ...changes }).map(({ code }) => code);

test('ok and fail need a change and explicit tests, blocked needs neither', () => {
  const { tests: _, ...untested } = result;
  for (const status of ['ok', 'fail'] as const) {
    expect(listCodes({ status })).toEqual([]);
    expect(listCodes({ status, tests: 'n/a' })).toEqual([]);
    expect(listCodes({ status, changes: { pr: 'none' } })).toEqual(['CHANGES_MISSING']);
    expect(findMissingEvidence({ ...untested, status, changes: {} }).map(({ code }) => code)).toEqual([
      'CHANGES_MISSING',
      'TESTS_MISSING',
    ]);
  }
  expect(findMissingEvidence({ ...untested, status: 'blocked', changes: {} })).toEqual([]);
});

test('empty, none and n/a mean nothing', () => {
  expect(['', ' ', 'none', 'NONE', 'n/a', ' N/A '].every(isNoneLike)).toBe(true);
  expect(['0', 'no', 'nonexistent', 'n/a yet'].some(isNoneLike)).toBe(false);
});
