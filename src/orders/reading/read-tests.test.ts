import { describe, expect, test } from 'vitest';
import { recognizeTestResult } from './normalize-result.js';

describe('a statement about tests', () => {
  test.each([
    'pass',
    'PASS',
    'passed',
    'npm test passed',
    'all tests pass',
    '42 passed, 0 failed',
    '42 passed, 3 skipped, 1 todo',
    'Tests: 42 passed (42)',
    '42/42 passed',
    'no failures',
    'failures: 0',
    'ok',
    'green',
    'succeeded',
    'exit code 0',
    'cargo test --no-fail-fast passed',
    'vitest run: 12 passed, no errors',
    '全部通过',
  ])('means that they passed: %s', (text) => {
    expect(recognizeTestResult(text)).toBe('pass');
  });

  test.each([
    'fail',
    'FAILED',
    '1 failed, 41 passed',
    '41 passed, 10 failed',
    '40/42 passed',
    '40 of 42 tests passed',
    'passed, but lint failed',
    'does not pass',
    "tests don't pass",
    'exit code 1',
    'exited with 2',
    '2 errors',
    'broken',
    'timed out',
    'crashed',
    '3 个失败',
    '0 failed in unit, 3 failed in e2e',
    'skipped because they fail',
    '未通过',
  ])('means that they failed: %s', (text) => {
    expect(recognizeTestResult(text)).toBe('fail');
  });

  test.each([
    'not run',
    'not_run',
    'were not run',
    "didn't run",
    'didn’t run',
    'no tests were run',
    'could not be executed',
    'skipped',
    'todo',
    'TBD',
    'pending',
    'not run, would pass',
    '未运行',
  ])('means that they were not run: %s', (text) => {
    expect(recognizeTestResult(text)).toBe('not_run');
  });

  test.each(['all fine', 'npm test', 'see the log', 'mostly', '?', 'not_recognised', 'bypassed', 'docs only'])(
    'is not recognised: %s',
    (text) => {
      expect(recognizeTestResult(text)).toBe('not_recognised');
    },
  );

  test('is searched only at its start', () => {
    expect(recognizeTestResult(`${'not '.repeat(100_000)}pass`)).toBe('not_recognised');
  });
});
