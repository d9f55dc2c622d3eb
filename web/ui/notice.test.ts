import { expect, test } from 'vitest';
import { omitApiHint } from './parts.js';

test.each([
  ['Run not found. GET /v1/runs lists all runs.', 'Run not found.'],
  ['Issue not found. GET /v1/issues lists all issues.', 'Issue not found.'],
  ['The folder is not allowed.', 'The folder is not allowed.'],
])('%s is shown as: %s', (message, shown) => {
  expect(omitApiHint(message)).toBe(shown);
});
