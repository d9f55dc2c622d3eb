import { RESULT_STATUSES } from '../../store/records/index.js';
import type { Problem, WorkResult } from '../../store/records/index.js';
import { findMissingEvidence, isNoneLike } from '../proof/missing-evidence.js';
import { createValueProblem } from '../shapes/check-shape.js';
import type { SpelledFields } from '../shapes/spelling.js';
import { readTests } from './read-tests.js';
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
