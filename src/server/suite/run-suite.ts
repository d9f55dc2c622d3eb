import { escapeMarkup, getErrorMessage, isSluiceError } from '../../base/index.js';
import { findFirstDifference } from '../../runs/run-folder/index.js';
import { assessCase } from './assess-case.js';
import { listCases, openCase, writeExpected } from './case-folder.js';
import { SuiteError } from './case-record.js';
import type { Assessment } from './case-record.js';

/** A difference from the expectations. */
interface CaseChange {
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
interface SuiteOptions {
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
  throw new SuiteError('CASE_NOT_FOUND', `No cases found in "${suite}". Add one with: sluice suite add RUN`);
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

/**
 * Renders the reports as JUnit XML, which CI systems can display.
 *
 * @example
 * await writeFile('suite.xml', renderJunit(reports))
 */
export function renderJunit(reports: readonly CaseReport[]): string {
  const count = (status: CaseReport['status']): number => reports.filter((report) => report.status === status).length;
  const cases = reports.map((report) => {
    const head = `    <testcase classname="sluice-suite" name=${quote(report.name)} time="${(report.ms / 1000).toFixed(3)}"`;
    if (report.status === 'same') return `${head}/>`;
    const kind = report.status === 'changed' ? 'failure' : 'error';
    const lines = report.changes.map(describeChange);
    const message = report.problem ?? lines.join('; ');
    return `${head}>\n      <${kind} message=${quote(message)}>${escape(lines.join('\n'))}</${kind}>\n    </testcase>`;
  });
  const totals = `tests="${reports.length}" failures="${count('changed')}" errors="${count('broken')}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${totals}>`,
    `  <testsuite name="sluice-suite" ${totals}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** Longer values are shortened, so a change fits on one line. */
const MAX_LENGTH = 200;

/**
 * Describes a change in one line.
 *
 * @example
 * describeChange(change) // 'reading value.line: expected 3, found 4'
 */
export function describeChange({ part, path, expected, found }: CaseReport['changes'][number]): string {
  return `${part} ${path.join('.')}: expected ${formatValue(expected)}, found ${formatValue(found)}`;
}

function formatValue(value: unknown): string {
  const text = value === undefined ? 'no value' : JSON.stringify(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

function quote(text: string): string {
  return `"${escape(text).replaceAll('\n', '&#10;')}"`;
}

/** Characters that XML 1.0 does not allow. They are replaced, because agents can print them. */
// oxlint-disable-next-line no-control-regex
const INVALID_IN_XML = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|\p{Surrogate}/gu;

function escape(text: string): string {
  return escapeMarkup(text.replaceAll(INVALID_IN_XML, '\u{FFFD}'));
}
