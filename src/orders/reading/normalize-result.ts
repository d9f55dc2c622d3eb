import { RESULT_STATUSES, type Problem, type WorkResult } from '../../store/records/index.js';
import { findMissingEvidence, isNoneLike } from '../proof/missing-evidence.js';
import { createValueProblem } from '../shapes/check-shape.js';
import type { SpelledFields } from '../shapes/spelling.js';
import { gatherChanges, isFields, readResultFields } from './result-fields.js';

/** A result with normalized keys and values, if it is valid, and its problems. */
export interface NormalizedResult {
  readonly result?: WorkResult;
  readonly problems: readonly Problem[];
  readonly notices: readonly Problem[];
}

/**
 * Normalizes the fields of a result in any spelling and from any encoding. Nothing is filled in: a missing key or a
 * malformed value is a problem, and the result is then undefined.
 */
export function normalizeResult(fields: Pick<SpelledFields, 'known' | 'conflicts'>): NormalizedResult {
  const { known, conflicts } = gatherChanges(fields.known);
  const problems: Problem[] = [...fields.conflicts, ...conflicts];
  const collect = <T>({ value, problem }: Field<T>): T | undefined => {
    if (problem !== undefined) problems.push(problem);
    return value;
  };
  const issueRef = collect(readRequiredText('issue_ref', known));
  const runId = collect(readRequiredText('run_id', known));
  const status = collect(readStatus(known));
  const summary = collect(readOptionalText('summary', known)) ?? '';
  const code = collect(readOptionalText('result_code', known))?.trim() ?? '';
  const blockedBy = collect(readList('blocked_by', known)) ?? [];
  const questions = collect(readList('questions', known)) ?? [];
  const { changes, problems: changeProblems } = readChanges(known.get('changes'));
  const { tests, problem: testProblem } = readTests(known.get('tests'));
  const evidenceProblems = [...changeProblems, ...(testProblem === undefined ? [] : [testProblem])];
  // A blocked agent needs no evidence, so invalid evidence is no reason to ask a human.
  const needsEvidence = status !== 'blocked';
  if (needsEvidence) problems.push(...evidenceProblems);
  const notices = needsEvidence ? [] : evidenceProblems;
  if (issueRef === undefined || runId === undefined || status === undefined || problems.length > 0) {
    return { problems, notices };
  }
  const result: WorkResult = {
    issue_ref: issueRef,
    run_id: runId,
    status,
    changes,
    ...(tests === undefined ? {} : { tests }),
    summary,
    ...(isNoneLike(code) ? {} : { result_code: code.toLowerCase() }),
    ...(blockedBy.length === 0 ? {} : { blocked_by: blockedBy }),
    ...(questions.length === 0 ? {} : { questions }),
  };
  return { result, problems: findMissingEvidence(result), notices };
}

interface Field<T> {
  readonly value?: T;
  readonly problem?: Problem;
}

type Fields = ReadonlyMap<string, unknown>;

const MAX_TEXT_LENGTH = 500;

function readRequiredText(name: string, fields: Fields): Field<string> {
  const value = fields.get(name);
  if (value === undefined || value === null || value === '') return { problem: createMissingProblem(name) };
  if (typeof value !== 'string' || value.length > MAX_TEXT_LENGTH) {
    return { problem: createValueProblem(name, `must be a string of at most ${MAX_TEXT_LENGTH} characters`) };
  }
  return { value };
}

function readStatus(fields: Fields): Field<WorkResult['status']> {
  const { value, problem } = readRequiredText('status', fields);
  if (value === undefined) return problem === undefined ? {} : { problem };
  const status = RESULT_STATUSES.find((candidate) => candidate === value.trim().toLowerCase());
  return status === undefined
    ? { problem: createValueProblem('status', 'must be ok, fail or blocked') }
    : { value: status };
}

function readOptionalText(name: string, fields: Fields): Field<string> {
  const value = fields.get(name);
  if (value === undefined || value === null) return {};
  return typeof value === 'string' ? { value } : { problem: createValueProblem(name, 'must be a string') };
}

const MAX_LIST_LENGTH = 100;

function readList(name: string, fields: Fields): Field<readonly string[]> {
  const value = fields.get(name) ?? [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isList = list.length <= MAX_LIST_LENGTH && list.every((entry) => typeof entry === 'string');
  if (!isList) return { problem: createValueProblem(name, `must be a list of at most ${MAX_LIST_LENGTH} strings`) };
  return { value: list.map((entry) => entry.trim()).filter((entry) => !isNoneLike(entry)) };
}

function createMissingProblem(name: string): Problem {
  return { code: 'KEY_MISSING', message: 'missing', path: name };
}

/** The changes an agent reports, and problems in that report. */
export interface ReportedChanges {
  readonly changes: WorkResult['changes'];
  readonly problems: readonly Problem[];
}

// Git accepts at least four digits. A commit's URL on a forge contains its hash.
const COMMIT = /^(?:git:)?([0-9a-f]{4,64})$/i;
const COMMIT_PAGE = /^https?:\/\/[^\s/?#][^\s?#]{0,1000}\/commits?\/([0-9a-f]{4,64})\/?(?:[?#]\S{0,1000})?$/i;
// A URL, or anything with a number in it: #12, !12, acme/shop#12, PR-12.
const PULL_REQUEST = /^(?:https?:\/\/[^\s/]\S*|[^\s\d]*\d\S*)$/;

/** Reads `{ PR, Commit }`. A value such as `none` counts as missing. */
function readChanges(value: unknown): ReportedChanges {
  if (value === undefined || value === null) return { changes: {}, problems: [] };
  if (typeof value === 'string' && isNoneLike(value)) return { changes: {}, problems: [] };
  if (!isFields(value)) return { changes: {}, problems: [createValueProblem('changes', 'must have PR or Commit')] };
  const { known, conflicts } = readResultFields(Object.entries(value), ['pr', 'commit']);
  const problems: Problem[] = conflicts.map((conflict) => ({ ...conflict, path: `changes.${conflict.path}` }));
  const pr = readWord(known.get('pr'));
  const commit = readWord(known.get('commit'));
  const hash = commit === undefined ? undefined : readHash(commit);
  if (pr !== undefined && (pr.length > 2000 || !PULL_REQUEST.test(pr))) {
    problems.push(createValueProblem('changes.pr', 'must be the URL or the number of a pull request'));
  }
  if (commit !== undefined && hash === undefined) {
    problems.push(createValueProblem('changes.commit', 'must be at least 4 digits of a commit hash'));
  }
  return {
    changes: { ...(pr === undefined ? {} : { pr }), ...(hash === undefined ? {} : { commit: hash }) },
    problems,
  };
}

function readHash(commit: string): string | undefined {
  return (COMMIT.exec(commit) ?? COMMIT_PAGE.exec(commit))?.[1]?.toLowerCase();
}

/**
 * Reads a value as one word, or undefined if it means "nothing". Other types become `?`, which every later check
 * rejects.
 */
function readWord(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return String(value);
  if (typeof value !== 'string') return '?';
  return isNoneLike(value) ? undefined : value.trim();
}

/** The test report, or the problem with it; empty if the result contains no report. */
interface ReportedTests {
  readonly tests?: WorkResult['tests'];
  readonly problem?: Problem;
}

type TestReport = Exclude<NonNullable<WorkResult['tests']>, 'n/a'>;

const HOW_TO = 'write the command and its result (pass, fail or n/a), or only n/a if there are no tests';

/**
 * Reads `{ Command, Result, Evidence }`, `npm test => pass`, any other statement about tests, or `n/a`. Empty, `none`
 * and `{}` count as no report, which differs from `n/a`.
 */
function readTests(value: unknown): ReportedTests {
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
