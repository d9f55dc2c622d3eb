import { RESULT_STATUSES } from '../../records/index.js';
import type { Problem, WorkResult } from '../../records/index.js';
import { findMissingEvidence, isNoneLike } from '../evidence/missing-evidence.js';
import { invalidValue } from '../shapes/check-shape.js';
import type { SpelledFields } from '../shapes/spelling.js';
import { readTests } from './read-tests.js';
import { gatherChanges, isFields, readResultFields } from './result-fields.js';

/** A result in Sluice's own spelling, if there is one, and its problems. */
export interface NormalizedResult {
  readonly result?: WorkResult;
  readonly problems: readonly Problem[];
  readonly notices: readonly Problem[];
}

/**
 * Makes one shape of whatever spelling and encoding a worker used. Nothing is filled in: a missing key is a problem, an
 * ill-formed value is a problem, and then there is no result.
 */
export function normalizeResult(fields: Pick<SpelledFields, 'known' | 'conflicts'>): NormalizedResult {
  const { known, conflicts } = gatherChanges(fields.known);
  const problems: Problem[] = [...fields.conflicts, ...conflicts];
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
  // A blocked agent needs no evidence, so invalid evidence is not a reason to ask a person.
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

type Known = ReadonlyMap<string, unknown>;

const TEXT_LENGTH = 500;

function requiredText(name: string, known: Known): Field<string> {
  const value = known.get(name);
  if (value === undefined || value === null || value === '') return { problem: missing(name) };
  if (typeof value !== 'string' || value.length > TEXT_LENGTH) {
    return { problem: invalidValue(name, `must be a string of at most ${TEXT_LENGTH} characters`) };
  }
  return { value };
}

function readStatus(known: Known): Field<WorkResult['status']> {
  const { value, problem } = requiredText('status', known);
  if (value === undefined) return problem === undefined ? {} : { problem };
  const status = RESULT_STATUSES.find((word) => word === value.trim().toLowerCase());
  return status === undefined ? { problem: invalidValue('status', 'must be ok, fail or blocked') } : { value: status };
}

function optionalText(name: string, known: Known): Field<string> {
  const value = known.get(name);
  if (value === undefined || value === null) return {};
  return typeof value === 'string' ? { value } : { problem: invalidValue(name, 'must be a string') };
}

const LIST_LENGTH = 100;

function readList(name: string, known: Known): Field<readonly string[]> {
  const value = known.get(name) ?? [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isList = list.length <= LIST_LENGTH && list.every((entry) => typeof entry === 'string');
  if (!isList) return { problem: invalidValue(name, `must be a list of at most ${LIST_LENGTH} strings`) };
  return { value: list.map((entry) => entry.trim()).filter((entry) => !isNoneLike(entry)) };
}

function missing(name: string): Problem {
  return { code: 'KEY_MISSING', message: 'missing', path: name };
}

/** The changes a worker reports, and problems in that report. */
export interface ChangesFound {
  readonly changes: WorkResult['changes'];
  readonly problems: readonly Problem[];
}

// Four digits are the fewest that git takes. A forge's page of a commit has the hash in its address.
const COMMIT = /^(?:git:)?([0-9a-f]{4,64})$/i;
const COMMIT_PAGE = /^https?:\/\/[^\s/?#][^\s?#]{0,1000}\/commits?\/([0-9a-f]{4,64})\/?(?:[?#]\S{0,1000})?$/i;
// An address, or something with a number in it: #12, !12, acme/shop#12, PR-12.
const PULL_REQUEST = /^(?:https?:\/\/[^\s/]\S*|[^\s\d]*\d\S*)$/;

/** Reads `{ PR, Commit }`; values like `none` mean that it is missing. */
function readChanges(value: unknown): ChangesFound {
  if (value === undefined || value === null) return { changes: {}, problems: [] };
  if (typeof value === 'string' && isNoneLike(value)) return { changes: {}, problems: [] };
  if (!isFields(value)) return { changes: {}, problems: [invalidValue('changes', 'must have PR or Commit')] };
  const { known, conflicts } = readResultFields(Object.entries(value), ['pr', 'commit']);
  const problems: Problem[] = conflicts.map((conflict) => ({ ...conflict, path: `changes.${conflict.path}` }));
  const pr = readWord(known.get('pr'));
  const commit = readWord(known.get('commit'));
  const hash = commit === undefined ? undefined : readHash(commit);
  if (pr !== undefined && (pr.length > 2000 || !PULL_REQUEST.test(pr))) {
    problems.push(invalidValue('changes.pr', 'must be the address or the number of a pull request'));
  }
  if (commit !== undefined && hash === undefined) {
    problems.push(invalidValue('changes.commit', 'must be the hash of a commit, at least 4 digits of it'));
  }
  return {
    changes: { ...(pr === undefined ? {} : { pr }), ...(hash === undefined ? {} : { commit: hash }) },
    problems,
  };
}

function readHash(commit: string): string | undefined {
  return (COMMIT.exec(commit) ?? COMMIT_PAGE.exec(commit))?.[1]?.toLowerCase();
}

/** The value as one word; undefined if it means "nothing". Anything but a string stays visibly wrong. */
function readWord(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return String(value);
  if (typeof value !== 'string') return '?';
  return isNoneLike(value) ? undefined : value.trim();
}
