import { expect, test } from 'vitest';
import { describeReason } from './parts.js';

test.each([
  [{ reason: 'folder', run: null }, 'Waiting for its folder'],
  [{ reason: 'budget', budget: 'day' }, 'Waiting for the daily budget'],
  [{ reason: 'budget', budget: 'caller ada' }, 'Waiting for the budget of the token "ada"'],
  [{ reason: 'moon' }, 'Waiting for: moon'],
])('%j is shown as: %s', (waiting, words) => {
  expect(describeReason(waiting)).toBe(words);
});
