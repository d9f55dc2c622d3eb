import { getErrorMessage, isSluiceError } from '../base/index.js';
import { firstDifference } from '../run-folder/index.js';
import { assessCase } from './assess-case.js';
import { listCases, openCase, writeExpected } from './case-folder.js';
import type { Assessment } from './case-record.js';
import { SuiteError } from './suite-error.js';

/** Something that is not as expected. */
export interface CaseChange {
  readonly part: 'reading' | 'decision';
  readonly path: readonly (string | number)[];
  /** Undefined where it has nothing. */
  readonly expected: unknown;
  readonly found: unknown;
}

/** The outcome of a case. `broken`: it could not be read. */
export interface CaseReport {
  readonly name: string;
  readonly status: 'same' | 'changed' | 'broken';
  readonly ms: number;
  readonly changes: readonly CaseChange[];
  /** Why it is broken. */
  readonly problem?: string;
  readonly decision?: Assessment['decision'];
}

/** The suite and its selected cases. */
export interface SuiteOptions {
  readonly suite: string;
  /** All by default. */
  readonly names?: readonly string[];
  readonly clock: () => number;
  readonly onCase?: (report: CaseReport, total: number) => void;
}

/**
 * Assesses every case again, one after the other, and compares it with what is expected.
 *
 * @example
 * const reports = await runSuite({ suite: 'sluice-suite', clock: Date.now })
 */
export async function runSuite(options: SuiteOptions): Promise<readonly CaseReport[]> {
  const names = await chooseCases(options);
  const reports: CaseReport[] = [];
  for (const name of names) {
    const report = await runCase(options, name);
    reports.push(report);
    options.onCase?.(report, names.length);
  }
  return reports;
}

async function chooseCases({ suite, names = [] }: SuiteOptions): Promise<readonly string[]> {
  const chosen = names.length > 0 ? names : await listCases(suite);
  if (chosen.length > 0) return chosen;
  throw new SuiteError('SUITE_EMPTY', `No cases found in "${suite}". Add one with: sluice suite add RUN`);
}

async function runCase({ suite, clock }: SuiteOptions, name: string): Promise<CaseReport> {
  const began = clock();
  try {
    const opened = await openCase(suite, name);
    const found = await assessCase(opened);
    const changes = compare(opened.expected, found);
    const status = changes.length === 0 ? 'same' : 'changed';
    return { name, status, ms: clock() - began, changes, decision: found.decision };
  } catch (error) {
    // Other cases still run after an error; a named case that does not exist is an error of the caller.
    if (isSluiceError(error) && error.code === 'CASE_NOT_FOUND') throw error;
    const problem = isSluiceError(error) ? `${error.code}: ${error.message}` : getErrorMessage(error);
    return { name, status: 'broken', ms: clock() - began, changes: [], problem };
  }
}

/** The first difference of the reading and of the decision; through JSON, which is all a file can hold. */
function compare(expected: Assessment, found: Assessment): CaseChange[] {
  const now = JSON.parse(JSON.stringify(found)) as Assessment;
  const parts = [
    ['reading', expected.reading, now.reading],
    ['decision', withoutReason(expected), withoutReason(now)],
  ] as const;
  return parts.flatMap(([part, before, after]) => {
    const difference = firstDifference(before, after);
    if (difference === undefined) return [];
    return [{ part, path: difference.path, expected: difference.stored, found: difference.rebuilt }];
  });
}

/** The wording of a reason may change without changing the decision. */
function withoutReason({ decision: { action, code } }: Assessment): object {
  return { action, code };
}

/** Replaces the expectations of changed cases by what this version finds; returns their earlier reports. */
export async function acceptCases(options: SuiteOptions): Promise<readonly CaseReport[]> {
  const accepted: CaseReport[] = [];
  for (const report of await runSuite(options)) {
    if (report.status === 'broken') throw new SuiteError('CASE_INVALID', `${report.name}: ${report.problem ?? ''}`);
    if (report.status === 'same') continue;
    const opened = await openCase(options.suite, report.name);
    await writeExpected(opened, await assessCase(opened));
    accepted.push(report);
  }
  return accepted;
}
