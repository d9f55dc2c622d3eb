import type { Problem, WorkOrder, WorkResult } from '../../store/records/index.js';

/**
 * Finds evidence that `ok` and `fail` require and this result lacks. `blocked` needs no evidence, and a report needs no change.
 */
export function findMissingEvidence(result: WorkResult, order: Pick<WorkOrder, 'expects'> = {}): readonly Problem[] {
  if (result.status === 'blocked') return [];
  const problems: Problem[] = [];
  if (order.expects !== 'report' && isMissing(result.changes.pr) && isMissing(result.changes.commit)) {
    const message = 'it names neither a pull request nor a commit';
    problems.push({ code: 'CHANGES_MISSING', message, path: 'changes' });
  }
  const tests = describeMissingTests(result.tests);
  if (tests !== undefined) problems.push({ code: 'TESTS_MISSING', message: tests, path: 'tests' });
  return problems;
}

/** Any statement about tests is enough, except that they were not run. */
function describeMissingTests(tests: WorkResult['tests']): string | undefined {
  if (tests === undefined) return 'it does not mention tests; write n/a if there are none';
  return tests !== 'n/a' && tests.result === 'not_run' ? 'the tests were not run' : undefined;
}

/** Whether a value is absent, or a text that means "nothing". */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && isNoneLike(value));
}

/** Whether a value means "nothing": empty, `none` or `n/a`. */
export function isNoneLike(text: string): boolean {
  return ['', 'none', 'n/a'].includes(text.trim().toLowerCase());
}
