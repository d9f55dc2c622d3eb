import { describe, expect, test } from 'vitest';
import { order, result } from '../fixtures/order.js';
import { readResultValue } from './resolve.js';

describe('a result entered by a human', () => {
  test('can use either spelling and omit issue and run', () => {
    expect(readResultValue(result, order)).toEqual(result);
    expect(readResultValue({ Status: 'ok', Changes: { PR: '#7' }, Tests: 'n/a', Summary: 'By hand.' }, order)).toEqual({
      issue_ref: order.issue_ref,
      run_id: order.run_id,
      status: 'ok',
      changes: { pr: '#7' },
      tests: 'n/a',
      summary: 'By hand.',
    });
  });

  test.each([
    ['a non-object', 'ok', 'must be an object'],
    ['no evidence', { status: 'ok', tests: 'n/a' }, 'changes: it names neither'],
    ['no tests', { ...result, tests: undefined }, 'tests: it does not mention tests'],
    ['another status', { ...result, status: 'fail' }, 'status: only ok can be accepted'],
    ['another run', { ...result, run_id: '2026-11-15-backend-0002' }, 'must be the result of acme/shop#12'],
    [
      'a malformed commit',
      { ...result, changes: { commit: 'HEAD' } },
      'changes.commit: must be at least 4 digits of a commit hash',
    ],
  ])('is rejected with %s', (_, value, message) => {
    expect(() => readResultValue(value, order)).toThrow(
      expect.objectContaining({ code: 'INVALID_WORK_RESULT', message: expect.stringContaining(message) }),
    );
  });
});
