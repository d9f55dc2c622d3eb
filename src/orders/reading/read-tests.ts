import type { Problem, WorkResult } from '../../store/records/index.js';
import { isNoneLike } from '../proof/missing-evidence.js';
import { createValueProblem } from '../shapes/check-shape.js';
import { isFields, readResultFields } from './result-fields.js';

/** The test report, or the problem with it; empty if the result contains no report. */
export interface ReportedTests {
  readonly tests?: WorkResult['tests'];
  readonly problem?: Problem;
}

type TestReport = Exclude<NonNullable<WorkResult['tests']>, 'n/a'>;

const HOW_TO = 'write the command and its result (pass, fail or n/a), or only n/a if there are no tests';

/**
 * Reads `{ Command, Result, Evidence }`, `npm test => pass`, any other statement about tests, or `n/a`. Empty, `none`
 * and `{}` count as no report, which differs from `n/a`.
 */
export function readTests(value: unknown): ReportedTests {
  if (value === undefined || value === null) return {};
  if (typeof value === 'string') return readLine(value.trim());
  return isFields(value) ? readReport(value) : { problem: createValueProblem('tests', HOW_TO) };
}

function readLine(line: string): ReportedTests {
  if (line.toLowerCase() === 'n/a') return { tests: 'n/a' };
  if (isNoneLike(line)) return {};
  // Use the last arrow: the command itself can contain one.
  const arrow = line.lastIndexOf('=>');
  if (arrow < 0) return { tests: describeTests('', line, '') };
  const outcome = line.slice(arrow + 2).trim();
  if (lacksOutcome(outcome)) return { problem: createValueProblem('tests', HOW_TO) };
  return { tests: describeTests(line.slice(0, arrow).trim(), outcome, '') };
}

function readReport(report: Readonly<Record<string, unknown>>): ReportedTests {
  const { known, conflicts } = readResultFields(Object.entries(report), ['command', 'result', 'evidence']);
  if (conflicts[0] !== undefined) return { problem: { ...conflicts[0], path: `tests.${conflicts[0].path}` } };
  const fields = new Map<string, string>();
  for (const [name, value] of known) {
    if (typeof value === 'string') fields.set(name, value.trim());
    else if (value !== null) return { problem: createValueProblem(`tests.${name}`, 'must be a string') };
  }
  const command = fields.get('command') ?? '';
  const outcome = fields.get('result') ?? '';
  if (isNoneLike(command)) {
    if (outcome.toLowerCase() === 'n/a') return { tests: 'n/a' };
    if (isNoneLike(outcome)) return {};
  }
  if (lacksOutcome(outcome)) return { problem: createValueProblem('tests.result', HOW_TO) };
  return { tests: describeTests(command, outcome, fields.get('evidence') ?? '') };
}

/** Whether a report contains a command but no outcome. */
function lacksOutcome(outcome: string): boolean {
  return isNoneLike(outcome) && outcome.toLowerCase() !== 'n/a';
}

function describeTests(command: string, outcome: string, evidence: string): TestReport {
  const result = recognizeTestResult(outcome);
  // Any text beyond the result itself is stored as evidence.
  const parts = outcome.toLowerCase() === result ? [evidence] : [outcome, evidence];
  const details = parts.filter((part) => !isNoneLike(part)).join('; ');
  return { command: isNoneLike(command) ? '' : command, result, evidence: details };
}

// Longer text counts as a report too, but its tail is not searched for an outcome.
const SEARCHED_LENGTH = 2000;

/** Removed before matching: options such as `--no-fail-fast`, and skipped-test counts. */
const OPTION = /(?:^|\s)--?[a-z][\w-]*/g;
const SKIPPED = /\b\d+ (?:tests? )?(?:skipped|ignored|pending|todo)\b/g;
const NO_FAILURE =
  /\b(?:0|no|zero|without(?: any)?) (?:tests? )?(?:fail(?:ed|ing|ures?|s)?|errors?|regressions?)\b|\b(?:failed|failures|errors|fail)[:=] ?0\b|(?:0|没有|无) ?(?:个)?失败/g;
const NOT_PASSED = /\b(?:not|never|cannot)\b[^.;,]{0,20}\bpass(?:ed|es|ing)?\b|未通过|不通过/;
const FAILED = /\b(?:fail(?:ed|ing|ures?|s)?|errors?|errored|broken|crashed|timed out|red)\b|失败|✗|✘|❌/;
const NOT_RUN =
  /\b(?:not|never|unable to|cannot|no tests?|without)\b[^.;,]{0,20}\b(?:run|ran|running|executed|tested|started)\b|\bnot_run\b|\b(?:skip(?:ped|ping)?|todo|tbd|pending|untested)\b|未运行|未执行|跳过/;
const PASSED = /\b(?:pass(?:ed|es|ing)?|ok|green|succe(?:ss|ssful|ssfully|eded|eds))\b|通过|✓|✔|✅/;
const EXIT_CODE = /\bexit(?:ed)?(?: with)?(?: code| status)?[: =]+(\d{1,3})\b/;
const FRACTION = /\b(\d{1,9}) ?(?:\/|of|out of) ?(\d{1,9})\b[^.;,\d]{0,20}\b(?:pass|ok|succe)/;

/**
 * Recognizes the outcome in a statement about tests: passed, failed, not run, or not recognised. Failure is checked
 * first, so a report of both never counts as a success.
 *
 * @example
 * recognizeTestResult('42 passed, 0 failed') // 'pass'
 */
export function recognizeTestResult(outcome: string): TestReport['result'] {
  const text = outcome
    .slice(0, SEARCHED_LENGTH)
    .toLowerCase()
    .replaceAll(/n['’]t\b/g, ' not');
  if (text.trim() === 'n/a') return 'n/a';
  const exit = EXIT_CODE.exec(text)?.[1];
  const fraction = FRACTION.exec(text);
  const cleaned = text.replaceAll(OPTION, ' ').replaceAll(SKIPPED, ' ');
  const isPartial = fraction !== null && Number(fraction[1]) < Number(fraction[2]);
  const remaining = cleaned.replaceAll(NO_FAILURE, ' ');
  const isFailed = FAILED.test(remaining) || NOT_PASSED.test(cleaned);
  if (isFailed || isPartial || (exit !== undefined && Number(exit) !== 0)) return 'fail';
  if (NOT_RUN.test(cleaned)) return 'not_run';
  return PASSED.test(cleaned) || remaining !== cleaned || exit !== undefined ? 'pass' : 'not_recognised';
}
