import { isAbsolute, resolve } from 'node:path';
import { fromJsonSchema } from '../../json-schema/index.js';
import type { StandardSchema } from '../../json/index.js';
import { refuse } from '../orders-error.js';
import type { OrdersErrorCode } from '../orders-error.js';
import { WORK_ORDER_SCHEMA, WORK_REQUEST_SCHEMA, describeIssueRef, parseRunId } from '../../records/index.js';
import type { Problem, WorkOrder, WorkRequest } from '../../records/index.js';
import { findUrlProblem } from '../repos/repo-url.js';
import { checkShape, invalidValue } from './check-shape.js';
import { readSpellings } from './spelling.js';

const requestSchema = fromJsonSchema<WorkRequest>(WORK_REQUEST_SCHEMA);
const orderSchema = fromJsonSchema<WorkOrder>(WORK_ORDER_SCHEMA);
const NAMES = Object.keys(WORK_ORDER_SCHEMA.properties);

/**
 * Checks a request that came from outside. Keys may be in either spelling (`IssueRef`, `issue_ref`); unknown ones are
 * refused, because a misspelt `depends_on` would silently start work too early.
 *
 * @example
 * readWorkRequest({ issue_ref: 'acme/shop#12', role: 'backend', repo_dir: '/srv/shop', worker: 'codex-cli', instructions: 'Fix it.' })
 */
export function readWorkRequest(value: unknown): WorkRequest {
  return read(value, 'work request', 'INVALID_WORK_REQUEST', requestSchema);
}

/**
 * Checks an order that came from outside, as {@link readWorkRequest} does a request.
 *
 * @example
 * const order = readWorkOrder(JSON.parse(await readFile('work_order.json', 'utf8')))
 */
export function readWorkOrder(value: unknown): WorkOrder {
  return read(value, 'work order', 'INVALID_WORK_ORDER', orderSchema);
}

function read<T extends WorkRequest>(
  value: unknown,
  what: string,
  code: OrdersErrorCode,
  schema: StandardSchema<unknown, T>,
): T {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuse(code, what, [invalidValue('', 'must be an object with issue_ref, role, repo_dir and worker')]);
  }
  const { known, unknown, conflicts } = readSpellings(Object.entries(value), NAMES);
  const filled = Object.fromEntries([...unknown, ...known, ...fillForms(known)]);
  const fields = Object.fromEntries(Object.entries(filled).filter(([, part]) => part !== undefined));
  const checked = checkShape(schema, fields, (path) => adviceFor(path, fields));
  const problems = [...conflicts, ...(checked.problems ?? []), ...findContradictions(fields)];
  if (checked.problems !== undefined || problems.length > 0) throw refuse(code, what, problems);
  const { repo, repo_dir } = checked.value;
  return { ...checked.value, repo_dir: repo === repo_dir ? repo_dir : resolve(repo_dir) };
}

/** A list of one may be written as a string, and a specification may replace the instructions. */
function* fillForms(known: ReadonlyMap<string, unknown>): Iterable<[string, unknown]> {
  for (const name of ['constraints', 'depends_on', 'links']) {
    const value = known.get(name);
    if (typeof value === 'string') yield [name, [value]];
  }
  if (!known.has('instructions')) yield ['instructions', ''];
  const repo = known.get('repo');
  if (typeof repo !== 'string') return;
  // Only the path of a folder: then it is that folder.
  if (isAbsolute(repo)) yield ['repo', undefined];
  if (!known.has('repo_dir')) yield ['repo_dir', repo];
}

function adviceFor([name = '', index]: readonly string[], fields: Readonly<Record<string, unknown>>) {
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
      return 'use the name of a wrapper: letters, digits, points, - and _';
    case 'run_id':
      return 'a run id is YYYY-MM-DD-role-NNNN and is assigned by Sluice: leave it out of a request';
    default:
      return undefined;
  }
}

/** Finds contradictions that a schema cannot express. */
function* findContradictions(fields: Readonly<Record<string, unknown>>): Iterable<Problem> {
  const { repo, repo_dir, issue_ref, depends_on, run_id, race, isolation } = fields;
  if (repo_dir === undefined)
    yield { code: 'KEY_MISSING', message: 'name the folder, or the URL of a repository in repo', path: 'repo_dir' };
  if (typeof repo === 'string') yield* findRepoContradictions(repo, fields);
  else if (typeof repo_dir === 'string' && repo_dir !== '' && !isAbsolute(repo_dir)) {
    yield invalidValue('repo_dir', 'use an absolute path, so that it is the same for every worker');
  }
  if (Array.isArray(depends_on) && typeof issue_ref === 'string' && depends_on.includes(issue_ref)) {
    yield invalidValue('depends_on', 'an issue cannot wait for itself; leave it out');
  }
  if (race !== undefined && isolation === 'repository') {
    yield invalidValue('isolation', 'the runs of a race need a worktree each; leave it out');
  }
  if (typeof run_id === 'string' && new RegExp(WORK_ORDER_SCHEMA.properties.run_id.pattern).test(run_id)) {
    if (parseRunId(run_id) === undefined) yield invalidValue('run_id', 'invalid day, role or number');
  }
}

function* findRepoContradictions(repo: string, fields: Readonly<Record<string, unknown>>): Iterable<Problem> {
  const why = findUrlProblem(repo);
  if (why !== undefined) yield invalidValue('repo', why);
  // The order for a worker contains the folder as well.
  if (fields['run_id'] === undefined && fields['repo_dir'] !== repo) {
    yield invalidValue('repo_dir', 'the request names a repository by its URL already; leave it out');
  }
  if (fields['isolation'] === 'repository') {
    yield invalidValue('isolation', 'orders of a repository with a URL need a worktree each; leave it out');
  }
}
