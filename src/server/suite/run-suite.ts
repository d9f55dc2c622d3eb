import { getErrorMessage, isSluiceError } from '../../base/index.js';
import { findFirstDifference } from '../../runs/run-folder/index.js';
import { assessCase } from './assess-case.js';
import { listCases, openCase, writeExpected } from './case-folder.js';
import type { Assessment } from './case-record.js';
import { SuiteError } from './suite-error.js';

/** A difference from the expectations. */
export interface CaseChange {
  readonly part: 'reading' | 'decision';
  readonly path: readonly (string | number)[];
  /** Undefined if there is no value. */
  readonly expected: unknown;
  readonly found: unknown;
}

/** A case's outcome. `broken`: the case could not be read. */
export interface CaseReport {
  readonly name: string;
  readonly status: 'same' | 'changed' | 'broken';
  readonly ms: number;
  readonly changes: readonly CaseChange[];
  /** Why the case could not be read. */
  readonly problem?: string;
  readonly decision?: Assessment['decision'];
}

/** The suite and its selected cases. */
export interface SuiteOptions {
  readonly suite: string;
  /** All cases by default. */
  readonly names?: readonly string[];
  readonly clock: () => number;
  readonly onCase?: (report: CaseReport, total: number) => void;
}

/**
 * Assesses every case again, in sequence, and compares the results with the expectations.
 *
 * @example
 * const reports = await runSuite({ suite: 'sluice-suite', clock: Date.now })
 */
export async function runSuite(options: SuiteOptions): Promise<readonly CaseReport[]> {
  const names = await selectCases(options);
  const reports: CaseReport[] = [];
  for (const name of names) {
    const report = await runCase(options, name);
    reports.push(report);
    options.onCase?.(report, names.length);
  }
  return reports;
}

async function selectCases({ suite, names = [] }: SuiteOptions): Promise<readonly string[]> {
  const selectedNames = names.length > 0 ? names : await listCases(suite);
  if (selectedNames.length > 0) return selectedNames;
  throw new SuiteError('SUITE_EMPTY', `No cases found in "${suite}". Add one with: sluice suite add RUN`);
}

async function runCase({ suite, clock }: SuiteOptions, name: string): Promise<CaseReport> {
  const startedAt = clock();
  try {
    const suiteCase = await openCase(suite, name);
    const actual = await assessCase(suiteCase);
    const changes = findChanges(suiteCase.expected, actual);
    const status = changes.length === 0 ? 'same' : 'changed';
    return { name, status, ms: clock() - startedAt, changes, decision: actual.decision };
  } catch (error) {
    // An error in one case does not stop the others, but a missing case that the caller named or an unreadable suite does.
    if (isSluiceError(error) && (error.code === 'CASE_NOT_FOUND' || error.code === 'SUITE_UNREADABLE')) throw error;
    const problem = isSluiceError(error) ? `${error.code}: ${error.message}` : getErrorMessage(error);
    return { name, status: 'broken', ms: clock() - startedAt, changes: [], problem };
  }
}

/**
 * Finds the first difference in the reading and in the decision. The actual values are converted to JSON first, because
 * the expectations come from a JSON file.
 */
function findChanges(expected: Assessment, actual: Assessment): CaseChange[] {
  const actualJson = JSON.parse(JSON.stringify(actual)) as Assessment;
  const parts = [
    ['reading', expected.reading, actualJson.reading],
    ['decision', withoutReason(expected), withoutReason(actualJson)],
  ] as const;
  return parts.flatMap(([part, expectedPart, actualPart]) => {
    const difference = findFirstDifference(expectedPart, actualPart);
    if (difference === undefined) return [];
    return [{ part, path: difference.path, expected: difference.stored, found: difference.rebuilt }];
  });
}

/** Reasons are not compared, because their wording can change. */
function withoutReason({ decision: { action, code } }: Assessment): object {
  return { action, code };
}

/**
 * Replaces the expectations of changed cases with this version's results, and returns their reports. If a case cannot
 * be read, nothing is replaced.
 */
export async function acceptCases(options: SuiteOptions): Promise<readonly CaseReport[]> {
  const reports = await runSuite(options);
  const brokenCase = reports.find(({ status }) => status === 'broken');
  if (brokenCase !== undefined) {
    throw new SuiteError(
      'CASE_INVALID',
      `No case was accepted, because "${brokenCase.name}" cannot be read: ${brokenCase.problem ?? ''}`,
    );
  }
  const changedReports = reports.filter(({ status }) => status === 'changed');
  for (const { name } of changedReports) {
    const suiteCase = await openCase(options.suite, name);
    await writeExpected(suiteCase, await assessCase(suiteCase));
  }
  return changedReports;
}
