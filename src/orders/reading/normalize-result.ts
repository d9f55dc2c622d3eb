import { RESULT_STATUSES, TEST_RESULTS } from '../../records/index.js';
import type { Problem, WorkResult } from '../../records/index.js';
import { findMissingEvidence, isNoneLike } from '../evidence/missing-evidence.js';
import { invalidValue } from '../shapes/check-shape.js';
import { foldKey, readSpellings } from '../shapes/spelling.js';
import type { SpelledFields } from '../shapes/spelling.js';

/** A result in Sluice's own spelling, as far as there is one, and what speaks against it. */
export interface NormalizedResult {
  readonly result?: WorkResult;
  readonly problems: readonly Problem[];
  readonly notices: readonly Problem[];
}

/**
 * Makes one shape of whatever spelling and encoding a worker used. Nothing is filled in: a missing key is a problem, an
 * ill-formed value is a problem, and then there is no result.
 */
export function normalizeResult({ known, conflicts }: Pick<SpelledFields, 'known' | 'conflicts'>): NormalizedResult {
  const problems: Problem[] = [...conflicts];
  const collect = <T>({ value, problem }: Field<T>): T | undefined => {
    if (problem !== undefined) problems.push(problem);
    return value;
  };
  const issueRef = collect(requiredText('issue_ref', known));
  const runId = collect(requiredText('run_id', known));
  const status = collect(readStatus(known));
  const summary = collect(optionalText('summary', known)) ?? '';
  const code = collect(optionalText('result_code', known))?.trim() ?? '';
  const blockedBy = collect(readList('blocked_by', known)) ?? [];
  const questions = collect(readList('questions', known)) ?? [];
  const { changes, problems: changeProblems } = readChanges(known.get('changes'));
  const { tests, problem: testProblem } = readTests(known.get('tests'));
  const evidenceProblems = [...changeProblems, ...(testProblem === undefined ? [] : [testProblem])];
  // Who is blocked owes no evidence, so evidence that makes no sense is no reason to ask a person.
  const owesEvidence = status !== 'blocked';
  if (owesEvidence) problems.push(...evidenceProblems);
  const notices = owesEvidence ? [] : evidenceProblems;
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

type Known = ReadonlyMap<string, unknown>;

const TEXT_LENGTH = 500;

function requiredText(name: string, known: Known): Field<string> {
  const value = known.get(name);
  if (value === undefined || value === null || value === '') return { problem: missing(name) };
  if (typeof value !== 'string' || value.length > TEXT_LENGTH) {
    return { problem: invalidValue(name, `it must be a text of at most ${TEXT_LENGTH} characters`) };
  }
  return { value };
}

function readStatus(known: Known): Field<WorkResult['status']> {
  const { value, problem } = requiredText('status', known);
  if (value === undefined) return problem === undefined ? {} : { problem };
  const status = RESULT_STATUSES.find((word) => word === value.trim().toLowerCase());
  return status === undefined
    ? { problem: invalidValue('status', 'it must be ok, fail or blocked') }
    : { value: status };
}

function optionalText(name: string, known: Known): Field<string> {
  const value = known.get(name);
  if (value === undefined || value === null) return {};
  return typeof value === 'string' ? { value } : { problem: invalidValue(name, 'it must be a text') };
}

const LIST_LENGTH = 100;

function readList(name: string, known: Known): Field<readonly string[]> {
  const value = known.get(name) ?? [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isList = list.length <= LIST_LENGTH && list.every((entry) => typeof entry === 'string');
  if (!isList) return { problem: invalidValue(name, `it must be a list of at most ${LIST_LENGTH} texts`) };
  return { value: list.map((entry) => entry.trim()).filter((entry) => !isNoneLike(entry)) };
}

function missing(name: string): Problem {
  return { code: 'KEY_MISSING', message: 'it is missing', path: name };
}

/** What a worker says it changed, and what is wrong with how it says it. */
export interface ChangesFound {
  readonly changes: WorkResult['changes'];
  readonly problems: readonly Problem[];
}

// Four digits are the fewest that git takes.
const COMMIT = /^(?:git:)?([0-9a-f]{4,64})$/i;
// An address, or something with a number in it: #12, !12, acme/shop#12, PR-12.
const PULL_REQUEST = /^(?:https?:\/\/[^\s/]\S*|[^\s\d]*\d\S*)$/;

/** Reads `{ PR, Commit }`; values like `none` say that there is none. */
function readChanges(value: unknown): ChangesFound {
  if (value === undefined || value === null) return { changes: {}, problems: [] };
  if (typeof value === 'string' && isNoneLike(value)) return { changes: {}, problems: [] };
  if (!isFields(value)) return { changes: {}, problems: [invalidValue('changes', 'it must hold PR or Commit')] };
  const { known, conflicts } = readResultFields(Object.entries(value), ['pr', 'commit']);
  const problems: Problem[] = conflicts.map((conflict) => ({ ...conflict, path: `changes.${conflict.path}` }));
  const pr = readWord(known.get('pr'));
  const commit = readWord(known.get('commit'));
  const hash = commit === undefined ? undefined : COMMIT.exec(commit)?.[1]?.toLowerCase();
  if (pr !== undefined && (pr.length > 2000 || !PULL_REQUEST.test(pr))) {
    problems.push(invalidValue('changes.pr', 'it must be the address or the number of a pull request'));
  }
  if (commit !== undefined && hash === undefined) {
    problems.push(invalidValue('changes.commit', 'it must be the hash of a commit, at least 4 digits of it'));
  }
  return {
    changes: { ...(pr === undefined ? {} : { pr }), ...(hash === undefined ? {} : { commit: hash }) },
    problems,
  };
}

/** The value as one word; undefined where it says that there is none. Anything but text stays visibly wrong. */
function readWord(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return String(value);
  if (typeof value !== 'string') return '?';
  return isNoneLike(value) ? undefined : value.trim();
}

/** The fields of a work result, by the one name each has inside Sluice. */
const RESULT_FIELDS = [
  'issue_ref',
  'run_id',
  'status',
  'changes',
  'tests',
  'summary',
  'result_code',
  'blocked_by',
  'questions',
] as const;

/** The comment calls questions `OpenQuestions`, and workers copy that. */
const ALIASES: Readonly<Record<string, string>> = { openquestions: 'questions' };

/** Sorts what a worker wrote by field, whatever the spelling. */
export function readResultFields(
  entries: Iterable<readonly [string, unknown]>,
  names: readonly string[] = RESULT_FIELDS,
): SpelledFields {
  const named = [...entries].map(([key, value]) => [findAlias(key) ?? key, value] as const);
  return readSpellings(named, names);
}

function findAlias(key: string): string | undefined {
  const folded = foldKey(key);
  return Object.hasOwn(ALIASES, folded) ? ALIASES[folded] : undefined;
}

/** Tells whether a value is an object that is no list. */
export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What was said about tests; neither key where nothing was. */
export interface TestsFound {
  readonly tests?: WorkResult['tests'];
  readonly problem?: Problem;
}

const HOW_TO = 'write the command and pass, fail or n/a; n/a alone where there are no tests';

/**
 * Reads `{ Command, Result, Evidence }`, `npm test => pass` or `n/a`. Empty, `none` and `{}` say nothing, and nothing
 * is not `n/a`.
 */
function readTests(value: unknown): TestsFound {
  if (value === undefined || value === null) return {};
  if (typeof value === 'string') return readLine(value.trim());
  return isFields(value) ? readReport(value) : { problem: invalidValue('tests', HOW_TO) };
}

function readLine(line: string): TestsFound {
  if (line.toLowerCase() === 'n/a') return { tests: 'n/a' };
  if (isNoneLike(line)) return {};
  // The last arrow counts: a command may hold one.
  const arrow = line.lastIndexOf('=>');
  const command = line.slice(0, Math.max(arrow, 0)).trim();
  const result = toTestResult(line.slice(arrow + 2));
  if (arrow < 0 || result === undefined || isNoneLike(command)) return { problem: invalidValue('tests', HOW_TO) };
  return { tests: { command, result, evidence: '' } };
}

function readReport(report: Readonly<Record<string, unknown>>): TestsFound {
  const { known, conflicts } = readResultFields(Object.entries(report), ['command', 'result', 'evidence']);
  if (conflicts[0] !== undefined) return { problem: { ...conflicts[0], path: `tests.${conflicts[0].path}` } };
  const words = new Map<string, string>();
  for (const [name, value] of known) {
    if (typeof value === 'string') words.set(name, value.trim());
    else if (value !== null) return { problem: invalidValue(`tests.${name}`, 'it must be a text') };
  }
  const command = words.get('command') ?? '';
  const said = words.get('result') ?? '';
  if (isNoneLike(command)) {
    if (said.toLowerCase() === 'n/a') return { tests: 'n/a' };
    return said === '' || isNoneLike(said) ? {} : { problem: invalidValue('tests.command', HOW_TO) };
  }
  const result = toTestResult(said);
  if (result === undefined) return { problem: invalidValue('tests.result', HOW_TO) };
  const evidence = words.get('evidence') ?? '';
  return { tests: { command, result, evidence: isNoneLike(evidence) ? '' : evidence } };
}

function toTestResult(text: string): (typeof TEST_RESULTS)[number] | undefined {
  const word = text.trim().toLowerCase();
  return TEST_RESULTS.find((result) => result === word);
}
