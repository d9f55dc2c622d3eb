import { expect, test } from 'vitest';
import { getIssueState, getResolvedState } from './render-comment.js';

test('a decision never ends in done', () => {
  expect(getIssueState({ action: 'advance' })).toBe('review');
  expect(getIssueState({ action: 'blocked' })).toBe('blocked');
  expect(getIssueState({ action: 'needs-human' })).toBe('needs-human');
  expect(getIssueState({ action: 'archive' })).toBeUndefined();
});

test('accepting leads to review, rejecting to blocked, and retrying to a new run', () => {
  expect(getResolvedState('accept')).toBe('review');
  expect(getResolvedState('edit')).toBe('review');
  expect(getResolvedState('reject')).toBe('blocked');
  expect(getResolvedState('retry')).toBe('doing');
});
