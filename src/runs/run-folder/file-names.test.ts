import { expect, test } from 'vitest';
import { getAttemptFileName, parseAttempt } from './file-names.js';

test('every file of an attempt has its number', () => {
  expect(
    (['meta', 'stdin', 'stdout', 'stderr', 'pty', 'timing', 'fsDiff'] as const).map((file) =>
      getAttemptFileName(file, 2),
    ),
  ).toEqual([
    'meta.2.json',
    'stdin.2.log',
    'stdout.2.log',
    'stderr.2.log',
    'pty-output.2.log',
    'timing.2.jsonl',
    'fs-diff.2.json',
  ]);
});

test.each([
  ['stdout.1.log', 1],
  ['stderr.12.log', 12],
  ['pty-output.3.log', 3],
  ['meta.999999.json', 999_999],
  ['timing.1.jsonl', undefined],
  ['stdout.0.log', undefined],
  ['stdout.01.log', undefined],
  ['stdout.1000000.log', undefined],
  ['stdout.log', undefined],
  ['xstdout.1.log', undefined],
  ['stdout.1.log.tmp', undefined],
])('%s belongs to attempt %s', (name, attempt) => {
  expect(parseAttempt(name)).toBe(attempt);
});
