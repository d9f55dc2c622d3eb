import type { Problem, WorkResult } from '../../records/index.js';
import { isNoneLike } from '../evidence/missing-evidence.js';
import { invalidValue } from '../shapes/check-shape.js';
import { isFields, readResultFields } from './result-fields.js';

/** The report about tests; neither key if there is none. */
export interface TestsFound {
  readonly tests?: WorkResult['tests'];
  readonly problem?: Problem;
}

type TestReport = Exclude<NonNullable<WorkResult['tests']>, 'n/a'>;

const HOW_TO = 'write the command and pass, fail or n/a; only n/a if there are no tests';

/**
 * Reads `{ Command, Result, Evidence }`, `npm test => pass`, any other words about tests, or `n/a`. Empty, `none` and
 * `{}` say nothing, and nothing is not `n/a`.
 */
export function readTests(value: unknown): TestsFound {
  if (value === undefined || value === null) return {};
  if (typeof value === 'string') return readLine(value.trim());
  return isFields(value) ? readReport(value) : { problem: invalidValue('tests', HOW_TO) };
}

function readLine(line: string): TestsFound {
  if (line.toLowerCase() === 'n/a') return { tests: 'n/a' };
  if (isNoneLike(line)) return {};
  // The last arrow counts: a command may hold one.
  const arrow = line.lastIndexOf('=>');
  if (arrow < 0) return { tests: describeTests('', line, '') };
  const said = line.slice(arrow + 2).trim();
  if (lacksOutcome(said)) return { problem: invalidValue('tests', HOW_TO) };
  return { tests: describeTests(line.slice(0, arrow).trim(), said, '') };
}

function readReport(report: Readonly<Record<string, unknown>>): TestsFound {
  const { known, conflicts } = readResultFields(Object.entries(report), ['command', 'result', 'evidence']);
  if (conflicts[0] !== undefined) return { problem: { ...conflicts[0], path: `tests.${conflicts[0].path}` } };
  const words = new Map<string, string>();
  for (const [name, value] of known) {
    if (typeof value === 'string') words.set(name, value.trim());
    else if (value !== null) return { problem: invalidValue(`tests.${name}`, 'must be a string') };
  }
  const command = words.get('command') ?? '';
  const said = words.get('result') ?? '';
  if (isNoneLike(command)) {
    if (said.toLowerCase() === 'n/a') return { tests: 'n/a' };
    if (isNoneLike(said)) return {};
  }
  if (lacksOutcome(said)) return { problem: invalidValue('tests.result', HOW_TO) };
  return { tests: describeTests(command, said, words.get('evidence') ?? '') };
}

/** A command alone does not say how it ended. */
function lacksOutcome(said: string): boolean {
  return isNoneLike(said) && said.toLowerCase() !== 'n/a';
}

function describeTests(command: string, said: string, evidence: string): TestReport {
  const result = recognizeTestResult(said);
  // Words beyond the result itself are kept as its evidence.
  const words = said.toLowerCase() === result ? [evidence] : [said, evidence];
  const shown = words.filter((part) => !isNoneLike(part)).join('; ');
  return { command: isNoneLike(command) ? '' : command, result, evidence: shown };
}

// Longer texts are explicit as well, but their end is not searched for a result.
const SAID_LENGTH = 2000;

/** Options such as `--no-fail-fast`, and counts of what passed, failed or was left out for a reason. */
const OPTION = /(?:^|\s)--?[a-z][\w-]*/g;
const LEFT_OUT = /\b\d+ (?:tests? )?(?:skipped|ignored|pending|todo)\b/g;
const NO_FAILURE =
  /\b(?:0|no|zero|without(?: any)?) (?:tests? )?(?:fail(?:ed|ing|ures?|s)?|errors?|regressions?)\b|\b(?:failed|failures|errors|fail)[:=] ?0\b|(?:0|没有|无) ?(?:个)?失败/g;
const NOT_PASSED = /\b(?:not|never|cannot)\b[^.;,]{0,20}\bpass(?:ed|es|ing)?\b|未通过|不通过/;
const FAILED = /\b(?:fail(?:ed|ing|ures?|s)?|errors?|errored|broken|crashed|timed out|red)\b|失败|✗|✘|❌/;
const NOT_RUN =
  /\b(?:not|never|unable to|cannot|no tests?|without)\b[^.;,]{0,20}\b(?:run|ran|running|executed|tested|started)\b|\bnot_run\b|\b(?:skip(?:ped|ping)?|todo|tbd|pending|untested)\b|未运行|未执行|跳过/;
const PASSED = /\b(?:pass(?:ed|es|ing)?|ok|green|succe(?:ss|ssful|ssfully|eded|eds))\b|通过|✓|✔|✅/;
const EXIT_CODE = /\bexit(?:ed)?(?: with)?(?: code| status)?[: =]+(\d{1,3})\b/;
const SHARE = /\b(\d{1,9}) ?(?:\/|of|out of) ?(\d{1,9})\b[^.;,\d]{0,20}\b(?:pass|ok|succe)/;

/**
 * Recognizes the outcome in words about tests: passed, failed, not run, or words in which none of these is recognised. Failure is
 * looked for first, so that a report of both is never a success.
 *
 * @example
 * recognizeTestResult('42 passed, 0 failed') // 'pass'
 */
export function recognizeTestResult(said: string): TestReport['result'] {
  const words = said
    .slice(0, SAID_LENGTH)
    .toLowerCase()
    .replaceAll(/n['’]t\b/g, ' not');
  if (words.trim() === 'n/a') return 'n/a';
  const exit = EXIT_CODE.exec(words)?.[1];
  const share = SHARE.exec(words);
  const plain = words.replaceAll(OPTION, ' ').replaceAll(LEFT_OUT, ' ');
  const isPartial = share !== null && Number(share[1]) < Number(share[2]);
  const troubles = plain.replaceAll(NO_FAILURE, ' ');
  const isFailed = FAILED.test(troubles) || NOT_PASSED.test(plain);
  if (isFailed || isPartial || (exit !== undefined && Number(exit) !== 0)) return 'fail';
  if (NOT_RUN.test(plain)) return 'not_run';
  return PASSED.test(plain) || troubles !== plain || exit !== undefined ? 'pass' : 'not_recognised';
}
