import { expect, test } from 'vitest';
import { stateOf, stateOfResolution } from './issue-state.js';

test('a decision never ends in done', () => {
  expect(stateOf({ action: 'advance' })).toBe('review');
  expect(stateOf({ action: 'blocked' })).toBe('blocked');
  expect(stateOf({ action: 'needs-human' })).toBe('needs-human');
  expect(stateOf({ action: 'archive' })).toBeUndefined();
});

test('a person accepts to review, rejects to blocked, and retries', () => {
  expect(stateOfResolution('accept')).toBe('review');
  expect(stateOfResolution('edit')).toBe('review');
  expect(stateOfResolution('reject')).toBe('blocked');
  expect(stateOfResolution('retry')).toBe('doing');
});
