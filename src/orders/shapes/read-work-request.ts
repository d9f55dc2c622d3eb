import { isAbsolute, resolve } from 'node:path';
import { fromRecordSchema } from '../../json/schema/index.js';
import { createInvalidError, type OrdersError } from '../orders-error.js';
import { WORK_ORDER_SCHEMA, WORK_REQUEST_SCHEMA, describeIssueRef } from '../../store/records/index.js';
import type { Problem, WorkRequest } from '../../store/records/index.js';
import { findUrlProblem } from '../repos/repos.js';
import { checkShape, createValueProblem } from './check-shape.js';
import { readSpellings } from './spelling.js';

const requestSchema = fromRecordSchema<WorkRequest>(WORK_REQUEST_SCHEMA);
const NAMES = Object.keys(WORK_ORDER_SCHEMA.properties);

/**
 * Validates an untrusted request. Keys can use either spelling (`IssueRef`, `issue_ref`). Unknown keys are rejected,
 * because a misspelt `depends_on` would silently start work too early.
 *
 * @example
 * readWorkRequest({ issue_ref: 'acme/shop#12', role: 'backend', repo_dir: '/srv/shop', worker: 'codex-cli' })
 */
export function readWorkRequest(value: unknown): WorkRequest {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = 'must be an object with issue_ref, role, repo_dir and worker';
    throw createRequestError([createValueProblem('', message)]);
  }
  const { known, unknown, conflicts } = readSpellings(Object.entries(value), NAMES);
  const expanded = Object.fromEntries([...unknown, ...known, ...expandShorthands(known)]);
  const fields = Object.fromEntries(Object.entries(expanded).filter(([, part]) => part !== undefined));
  const validated = checkShape(requestSchema, fields, (path) => adviseOn(path, fields));
  const problems = [...conflicts, ...(validated.problems ?? []), ...findContradictions(fields)];
  if (validated.problems !== undefined || problems.length > 0) throw createRequestError(problems);
  const { repo, repo_dir } = validated.value;
  return { ...validated.value, repo_dir: repo === repo_dir ? repo_dir : resolve(repo_dir) };
}

function createRequestError(problems: readonly Problem[]): OrdersError {
  return createInvalidError('INVALID_WORK_REQUEST', 'work request', problems);
}

/** Expands shorthands: a list of one can be written as a string, and a specification can replace the instructions. */
function* expandShorthands(known: ReadonlyMap<string, unknown>): Iterable<[string, unknown]> {
  for (const name of ['constraints', 'depends_on', 'links']) {
    const value = known.get(name);
    if (typeof value === 'string') yield [name, [value]];
  }
  if (!known.has('instructions')) yield ['instructions', ''];
  const repo = known.get('repo');
  if (typeof repo !== 'string') return;
  // An absolute path is a folder, not a URL.
  if (isAbsolute(repo)) yield ['repo', undefined];
  if (!known.has('repo_dir')) yield ['repo_dir', repo];
}

function adviseOn([name = '', index]: readonly string[], fields: Readonly<Record<string, unknown>>) {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  const part: unknown = Array.isArray(value) && index !== undefined ? value[Number(index)] : value;
  if (typeof part !== 'string') return undefined;
  switch (name) {
    case 'issue_ref':
    case 'depends_on':
      return describeIssueRef(part);
    case 'role':
      return 'use letters and digits, with single - or _ between them, at most 40 characters';
    case 'worker':
      return 'use the name of a wrapper: letters, digits, dots, - and _';
    case 'run_id':
      return 'a run id is YYYY-MM-DD-role-NNNN and is assigned by Sluice: omit it from requests';
    default:
      return undefined;
  }
}

/** Finds contradictions that a schema cannot express. */
function* findContradictions(fields: Readonly<Record<string, unknown>>): Iterable<Problem> {
  const { repo, repo_dir, issue_ref, depends_on, race, isolation } = fields;
  if (repo_dir === undefined)
    yield { code: 'KEY_MISSING', message: 'name the folder, or the URL of a repository in repo', path: 'repo_dir' };
  if (typeof repo === 'string') yield* findRepoContradictions(repo, fields);
  else if (typeof repo_dir === 'string' && repo_dir !== '' && !isAbsolute(repo_dir)) {
    yield createValueProblem('repo_dir', 'use an absolute path, so it is the same for every worker');
  }
  if (Array.isArray(depends_on) && typeof issue_ref === 'string' && depends_on.includes(issue_ref)) {
    yield createValueProblem('depends_on', 'an issue cannot depend on itself; remove it from the list');
  }
  if (race !== undefined && isolation !== undefined && isolation !== 'worktree') {
    yield createValueProblem('isolation', 'each run of a race needs its own worktree; omit isolation');
  }
}

function* findRepoContradictions(repo: string, fields: Readonly<Record<string, unknown>>): Iterable<Problem> {
  const why = findUrlProblem(repo);
  if (why !== undefined) yield createValueProblem('repo', why);
  if (fields['repo_dir'] !== repo) {
    yield createValueProblem('repo_dir', 'omit it, because the request names a repository by its URL');
  }
  if (fields['isolation'] !== undefined && fields['isolation'] !== 'worktree') {
    yield createValueProblem(
      'isolation',
      'each order of a repository with a URL needs its own worktree; omit isolation',
    );
  }
}
