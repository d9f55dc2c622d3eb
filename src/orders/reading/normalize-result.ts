import { omitUndefined } from '../../base/index.js';
import { RESULT_STATUSES, type Problem, type Reading, type WorkResult } from '../../store/records/index.js';
import { findMissingEvidence, isMissing, isNoneLike } from '../proof/missing-evidence.js';
import { createValueProblem } from '../shapes/check-shape.js';
import type { SpelledFields } from '../shapes/spelling.js';
import { gatherChanges, isFields, readResultFields } from './result-fields.js';

/**
 * Normalizes the fields of a result in any spelling and from any encoding. Nothing is filled in: a missing key or a
 * malformed value is a problem, and the result is then undefined.
 */
export function normalizeResult(
  fields: Pick<SpelledFields, 'known' | 'conflicts'>,
): Pick<Reading, 'result' | 'problems' | 'notices'> {
  const { known, conflicts } = gatherChanges(fields.known);
  const problems: Problem[] = [...fields.conflicts, ...conflicts];
  const issueRef = readRequiredText('issue_ref', known, problems);
  const runId = readRequiredText('run_id', known, problems);
  const status = readStatus(known, problems);
  const summary = readOptionalText('summary', known, problems) ?? '';
  const code = readOptionalText('result_code', known, problems)?.trim() ?? '';
  const blockedBy = readList('blocked_by', known, problems);
  const questions = readList('questions', known, problems);
  const evidenceProblems: Problem[] = [];
  const changes = readChanges(known.get('changes'), evidenceProblems);
  const tests = readTests(known.get('tests'), evidenceProblems);
  // A blocked agent needs no evidence, so invalid evidence is no reason to ask a human.
  const needsEvidence = status !== 'blocked';
  if (needsEvidence) problems.push(...evidenceProblems);
  const notices = needsEvidence || evidenceProblems.length === 0 ? {} : { notices: evidenceProblems };
  if (issueRef === undefined || runId === undefined || status === undefined || problems.length > 0) {
    return { problems, ...notices };
  }
  const result: WorkResult = {
    issue_ref: issueRef,
    run_id: runId,
    status,
    changes,
    ...omitUndefined({ tests }),
    summary,
    ...(isNoneLike(code) ? {} : { result_code: code.toLowerCase() }),
    ...(blockedBy.length === 0 ? {} : { blocked_by: blockedBy }),
    ...(questions.length === 0 ? {} : { questions }),
  };
  return { result, problems: findMissingEvidence(result), ...notices };
}

type Fields = ReadonlyMap<string, unknown>;

const MAX_TEXT_LENGTH = 500;

function readRequiredText(name: string, fields: Fields, problems: Problem[]): string | undefined {
  const value = fields.get(name);
  if (typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH) return value;
  problems.push(
    value === undefined || value === null || value === ''
      ? { code: 'KEY_MISSING', message: 'missing', path: name }
      : createValueProblem(name, `must be a string of at most ${MAX_TEXT_LENGTH} characters`),
  );
  return undefined;
}

function readStatus(fields: Fields, problems: Problem[]): WorkResult['status'] | undefined {
  const value = readRequiredText('status', fields, problems);
  const status = RESULT_STATUSES.find((candidate) => candidate === value?.trim().toLowerCase());
  if (status === undefined && value !== undefined)
    problems.push(createValueProblem('status', 'must be ok, fail or blocked'));
  return status;
}

function readOptionalText(name: string, fields: Fields, problems: Problem[]): string | undefined {
  const value = fields.get(name) ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  problems.push(createValueProblem(name, 'must be a string'));
  return undefined;
}

const MAX_LIST_LENGTH = 100;

function readList(name: string, fields: Fields, problems: Problem[]): readonly string[] {
  const value = fields.get(name) ?? [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length <= MAX_LIST_LENGTH && list.every((entry) => typeof entry === 'string'))
    return list.map((entry) => entry.trim()).filter((entry) => !isNoneLike(entry));
  problems.push(createValueProblem(name, `must be a list of at most ${MAX_LIST_LENGTH} strings`));
  return [];
}

// Git accepts at least four digits. A commit's URL on a forge contains its hash.
const COMMIT = /^(?:git:)?([0-9a-f]{4,64})$/i;
const COMMIT_PAGE = /^https?:\/\/[^\s/?#][^\s?#]{0,1000}\/commits?\/([0-9a-f]{4,64})\/?(?:[?#]\S{0,1000})?$/i;
// A URL, or anything with a number in it: #12, !12, acme/shop#12, PR-12.
const PULL_REQUEST = /^(?:https?:\/\/[^\s/]\S*|[^\s\d]*\d\S*)$/;

/** Reads `{ PR, Commit }`. A value such as `none` counts as missing. */
function readChanges(value: unknown, problems: Problem[]): WorkResult['changes'] {
  if (isMissing(value)) return {};
  if (!isFields(value)) {
    problems.push(createValueProblem('changes', 'must have PR or Commit'));
    return {};
  }
  const { known, conflicts } = readResultFields(Object.entries(value), ['pr', 'commit']);
  problems.push(...conflicts.map((conflict) => ({ ...conflict, path: `changes.${conflict.path}` })));
  const pr = readWord(known.get('pr'));
  const claimed = readWord(known.get('commit'));
  const commit = (COMMIT.exec(claimed ?? '') ?? COMMIT_PAGE.exec(claimed ?? ''))?.[1]?.toLowerCase();
  if (pr !== undefined && (pr.length > 2000 || !PULL_REQUEST.test(pr))) {
    problems.push(createValueProblem('changes.pr', 'must be the URL or the number of a pull request'));
  }
  if (claimed !== undefined && commit === undefined) {
    problems.push(createValueProblem('changes.commit', 'must be at least 4 digits of a commit hash'));
  }
  return omitUndefined({ pr, commit });
}

/** Reads a value as one word, or undefined if it means "nothing". Other types become `?`, which every later check rejects. */
function readWord(value: unknown): string | undefined {
  if (isMissing(value)) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return String(value);
  return typeof value === 'string' ? value.trim() : '?';
}

type Tests = WorkResult['tests'];
type TestReport = Exclude<NonNullable<Tests>, 'n/a'>;

const HOW_TO = 'write the command and its result (pass, fail or n/a), or only n/a if there are no tests';

/**
 * Reads `{ Command, Result, Evidence }`, `npm test => pass`, any other statement about tests, or `n/a`. Empty, `none`
 * and `{}` count as no report, which differs from `n/a`.
 */
function readTests(value: unknown, problems: Problem[]): Tests {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return readLine(value.trim(), problems);
  if (isFields(value)) return readReport(value, problems);
  return refuse('tests', HOW_TO, problems);
}

function refuse(path: string, message: string, problems: Problem[]): undefined {
  problems.push(createValueProblem(path, message));
}

function readLine(line: string, problems: Problem[]): Tests {
  if (line.toLowerCase() === 'n/a') return 'n/a';
  if (isNoneLike(line)) return undefined;
  // Use the last arrow: the command itself can contain one.
  const arrow = line.lastIndexOf('=>');
  if (arrow < 0) return describeTests('', line, '');
  const outcome = line.slice(arrow + 2).trim();
  if (lacksOutcome(outcome)) return refuse('tests', HOW_TO, problems);
  return describeTests(line.slice(0, arrow).trim(), outcome, '');
}

function readReport(report: Readonly<Record<string, unknown>>, problems: Problem[]): Tests {
  const { known, conflicts } = readResultFields(Object.entries(report), ['command', 'result', 'evidence']);
  const [conflict] = conflicts;
  if (conflict !== undefined) return void problems.push({ ...conflict, path: `tests.${conflict.path}` });
  const fields = new Map<string, string>();
  for (const [name, value] of known) {
    if (typeof value === 'string') fields.set(name, value.trim());
    else if (value !== null) return refuse(`tests.${name}`, 'must be a string', problems);
  }
  const command = fields.get('command') ?? '';
  const outcome = fields.get('result') ?? '';
  if (isNoneLike(command)) {
    if (outcome.toLowerCase() === 'n/a') return 'n/a';
    if (isNoneLike(outcome)) return undefined;
  }
  if (lacksOutcome(outcome)) return refuse('tests.result', HOW_TO, problems);
  return describeTests(command, outcome, fields.get('evidence') ?? '');
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
