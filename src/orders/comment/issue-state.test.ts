import { expect, test } from 'vitest';
import { getIssueState, getResolvedState } from './issue-state.js';

test('a decision never ends in done', () => {
  expect(getIssueState({ action: 'advance' })).toBe('review');
  expect(getIssueState({ action: 'blocked' })).toBe('blocked');
  expect(getIssueState({ action: 'needs-human' })).toBe('needs-human');
  expect(getIssueState({ action: 'archive' })).toBeUndefined();
});

test('a person accepts to review, rejects to blocked, and retries', () => {
  expect(getResolvedState('accept')).toBe('review');
  expect(getResolvedState('edit')).toBe('review');
  expect(getResolvedState('reject')).toBe('blocked');
  expect(getResolvedState('retry')).toBe('doing');
});
