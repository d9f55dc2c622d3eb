import { join } from 'node:path';
import { omitUndefined, getErrorMessage } from '../../../base/index.js';
import { isPresent, replaceFile } from '../../../base/files/index.js';
import { readPolicy, type WorkerEnd } from '../../lead/settle.js';
import { STREAM_BYTES, type RejectedAnswer } from '../../reading/read-work-result.js';
import { RESULT_FILES } from '../../reading/result-file.js';
import type { OrderRecord, RunResult, WorkOrder, Evidence, Reading, WorkResult } from '../../../store/records/index.js';
import { readLastAttempt, getRunFolderPath } from '../../../runs/run-folder/index.js';
import type { HeldClaim } from '../hold-claim.js';
import { publishCommit } from './order-repository.js';
import { retryStore } from '../retry-store.js';
import type { WorkContext, WorkerLead } from '../worker-options.js';
import type { PackFile } from './inject-order.js';
import { getOwnBranch, leaveRepository } from '../../git/own-branch.js';
import { commitLeftovers, type Committed } from '../../git/commit-leftovers.js';
import { withObjects, type RepositoryStart, type UnknownStart } from '../../git/repository.js';
import { PLAIN_DIFF } from '../../git/read-change.js';
import { showText, dropFullStop } from '../../plain-text.js';
import { runChecks } from './run-checks.js';
import { removeWorktree, type Worktree } from '../../git/worktree.js';
import { findChecks, type NamedCheck } from '../../proof/checks.js';
import { judgeCheck } from '../../proof/judge-checks.js';
import { judgeCommit, type CommitFacts, type OrderChange } from '../../proof/judge-commit.js';
import { listPaths } from '../../proof/changes.js';
import { judgePullRequest, type PullRequestFinding } from '../../proof/pull-request.js';
import { findWrapper } from '../../wrappers/wrappers.js';
import { readSteering } from '../../git/read-steering.js';
import { examineCommit } from '../../git/examine-commit.js';

/** Used for a process that never started or whose exit is unknown. */
export const EXIT_UNKNOWN = { exitCode: null, signal: null } as const;

/** An order being executed, its worktree, and the repository's state before the run. */
export interface RunningOrder {
  readonly record: OrderRecord;
  readonly worktree: Worktree | undefined;
  readonly start: RepositoryStart | UnknownStart;
  /** When it was started, by this host's clock; absent if another worker started it. */
  readonly localStart?: number;
}

/** Settles an order. Retries while the store is unavailable, so no result is lost; settling twice is harmless. */
export async function settleOrder(context: WorkContext, order: WorkOrder, end: WorkerEnd): Promise<void> {
  const { issue_ref: issueRef, run_id: runId } = order;
  await retryStore(async () => context.lead.settle({ issueRef, runId, ...end }), context);
}

/**
 * Completes an order after its agent has exited: reads and proves the result, publishes the commit, removes the
 * worktree, settles.
 */
export async function finishOrder(
  context: WorkContext,
  { record, worktree, start, localStart: filesSince }: RunningOrder,
  result: RunResult,
  claim: HeldClaim,
): Promise<void> {
  const { lead, runs } = context;
  const { order, run: id } = record;
  const end = { ...(await readWorkerEnd(runs.data, id, result)), ...omitUndefined({ filesSince }) };
  const reading = await retryStore(
    async () => lead.read({ issueRef: order.issue_ref, runId: order.run_id, ...end }),
    context,
  );
  const { isCommitted, ...proven } = await prove(context, { record, reading, worktree, start }, claim);
  // Another worker has settled an order whose claim was lost: its commit is not published a second time.
  const isPublished = worktree !== undefined && order.repo !== undefined && (await claim.confirm());
  const published = isPublished ? await publishCommit(context, record, worktree, proven) : proven;
  const left =
    worktree === undefined
      ? await leaveRepository(start, getOwnBranch(record, lead.filters))
      : await leaveWorktree(lead, { worktree, start, order, isCommitted });
  const note = ['note' in published ? published.note : undefined, left.note].filter(Boolean).join(' ');
  await settleOrder(context, order, { ...end, ...proven, ...published, ...(note === '' ? {} : { note }) });
}

/**
 * Removes the worktree of an order that has ended. Work that was not committed is kept on the worktree's branch first; if
 * it must not be committed, the worktree is kept. Returns a note about where the work is.
 */
export async function leaveWorktree(
  { maskText }: Pick<WorkerLead, 'maskText'>,
  { worktree, start, order, isCommitted = false }: LeftWorktree,
): Promise<{ readonly note?: string }> {
  const known = 'why' in start ? undefined : start;
  const removed = await removeWorktree(worktree, { isCommitted, start: known });
  if (removed.note === undefined || isCommitted || 'why' in start) return removed;
  const kept = await commitLeftovers({ start, worktree, order, maskText }).catch(() => undefined);
  if (kept?.state !== 'committed') return removed;
  const { note } = await removeWorktree(worktree, { isCommitted: true, start: known });
  const where = `Its uncommitted work is in commit ${kept.commit.slice(0, 12)} on the branch ${worktree.branch}.`;
  return { note: note === undefined ? where : `${where} ${note}` };
}

interface LeftWorktree extends Pick<RunningOrder, 'start'> {
  readonly worktree: Worktree;
  readonly order: WorkOrder;
  readonly isCommitted?: boolean;
}

/** Collects the agent's result from its file or answer, its output, and its process exit. */
async function readWorkerEnd(data: string, id: string, result: RunResult): Promise<WorkerEnd> {
  const runDir = getRunFolderPath(data, id);
  const { file, ...rejected } = collectResult(result);
  if (file !== undefined) await writeUnlessPresent(data, runDir, file);
  const { stdout, stderr } = await readLastAttempt(runDir, STREAM_BYTES, { trustedRoot: data });
  return { ...readExit(result), stdout, stderr, runResult: result, ...rejected };
}

/** Writes a result file, unless the agent wrote one itself. */
async function writeUnlessPresent(data: string, runDir: string, file: PackFile): Promise<void> {
  for (const name of RESULT_FILES) {
    if (await isPresent(join(runDir, name))) return;
  }
  await replaceFile(join(runDir, file.path), file.text, { trustedRoot: data, isDurable: false });
}

/** Returns how the agent's process exited, as recorded by the run. */
export function readExit(result: RunResult): WorkerEnd {
  const { process: processExit, error, status } = result;
  if (processExit === undefined) {
    const startError = error?.message ?? `the run ended as ${status} before its process started`;
    return { ...EXIT_UNKNOWN, startError };
  }
  const { exit_code, signal, command, version } = processExit;
  // A process that Sluice stopped can still exit with 0: it counts as stopped.
  const wasStopped = error?.category === 'canceled' || error?.category === 'timeout' || error?.category === 'limit';
  return {
    // The run has terminated all of the agent's processes.
    hasEnded: true,
    exitCode: wasStopped ? null : exit_code,
    signal: wasStopped ? (signal ?? 'SIGTERM') : signal,
    command,
    workerVersion: version,
    // A category `process` adds nothing to exit code and signal.
    ...(error === undefined || error.category === 'process' ? {} : { runError: describeError(error) }),
  };
}

/** Describes why a run failed, with the engine's or the placement's cause. */
export function describeError({ code, cause, message }: NonNullable<RunResult['error']>): string {
  return cause === undefined ? message : `[${code}, ${cause}] ${message}`;
}

/** An order whose agent has exited. */
interface EndedOrder extends Omit<RunningOrder, 'localStart'> {
  readonly reading: Reading;
}

/**
 * Verifies a result: commits uncommitted work, examines the commit, runs the checks. Decides nothing. Returns the reading
 * with the final commit, the evidence, the changed lines if there is a change, and whether Sluice committed.
 */
async function prove(context: WorkContext, endedOrder: EndedOrder, claim: HeldClaim) {
  const { result } = endedOrder.reading;
  const { order } = endedOrder.record;
  const isOwn = result?.issue_ref === order.issue_ref && result.run_id === order.run_id;
  // A blocked agent does not have to prove anything, and the result of another run is not examined.
  if (result === undefined || !isOwn || result.status === 'blocked') {
    return { reading: endedOrder.reading, evidence: [], isCommitted: false };
  }
  const committed = await commitUncommitted(context, endedOrder, result);
  const reading =
    committed.state === 'committed' ? withCommit(endedOrder.reading, committed.commit) : endedOrder.reading;
  const claimedPr = result.changes.pr;
  const request =
    claimedPr === undefined
      ? undefined
      : await retryStore(async () => context.lead.findPullRequest(order.issue_ref, claimedPr), context);
  const facts = await examine(context, endedOrder, reading, committed, request);
  const { policy, checks } = readPolicy(context.lead, order);
  const isChecked = policy === 'proven' && checks.length > 0 && result.status === 'ok';
  const change = facts?.found === 'change' ? facts.change : undefined;
  const evidence = facts === undefined ? [] : [...judgeCommit(facts, order, { isChecked })];
  if (claimedPr !== undefined && request !== undefined)
    evidence.push(judgePullRequest(request, claimedPr, change?.commit ?? reading.result?.changes.commit));
  if (result.status === 'ok')
    evidence.push(...(await runAndJudgeChecks(context, { ...endedOrder, reading }, change, claim)));
  const isClaimed = change !== undefined && reading.result?.changes.commit !== undefined;
  return {
    // The whole hash, because an agent can give a branch the name of a shorter one.
    reading: isClaimed ? withCommit(reading, change.commit, new Set()) : reading,
    evidence,
    isCommitted: committed.state === 'committed',
    ...omitUndefined({ changedLines: change?.lines ?? undefined }),
  };
}

async function commitUncommitted(
  { lead }: WorkContext,
  { worktree, start, record: { order } }: EndedOrder,
  result: WorkResult,
): Promise<Committed> {
  if (worktree === undefined || 'why' in start || order.expects === 'report') return { state: 'clean' };
  try {
    return await commitLeftovers({ start, worktree, order, result, maskText: lead.maskText });
  } catch (error) {
    return { state: 'stopped', why: getErrorMessage(error) };
  }
}

/** Problems that are resolved once Sluice has made the commit. */
const RESOLVED: ReadonlySet<string> = new Set(['CHANGES_MISSING', 'COMMIT_NOT_FOUND', 'COMMIT_UNCHECKED']);

/** Sets a result's commit: one made by Sluice becomes its commit, whether or not the agent named one. */
export function withCommit(reading: Reading, commit: string, resolved = RESOLVED): Reading {
  if (reading.result === undefined) return reading;
  return {
    ...reading,
    result: { ...reading.result, changes: { ...reading.result.changes, commit } },
    problems: reading.problems.filter(({ code }) => !resolved.has(code)),
  };
}

async function examine(
  context: WorkContext,
  { start, record }: EndedOrder,
  { result }: Reading,
  committed: Committed,
  request: PullRequestFinding | undefined,
): Promise<CommitFacts | undefined> {
  const claimed = result?.changes.commit;
  // A result that names only a pull request claims its head, if the repository has it.
  const commit = claimed ?? (request?.found === 'request' ? request.head : undefined);
  if (committed.state === 'stopped') {
    return { found: 'foreign', commit: commit ?? 'of its worktree', why: `was not created: ${committed.why}` };
  }
  if ('why' in start) return { found: 'unknown', why: `${start.why}; the agent worked in the folder itself` };
  if (commit === undefined) return undefined;
  const base = record.base_commit ?? start.head;
  const made = committed.state === 'committed' ? { made: committed.made } : {};
  const from = await findStartOfChange(context, start, record);
  const facts = await examineCommit(start, { commit, base, from, ...made });
  return facts.found === 'missing' && claimed === undefined ? undefined : facts;
}

/**
 * Finds the commit that the change is compared with. A retry that continues an earlier run's commit shows the change
 * since the first order; otherwise the commits before this run are others' work.
 */
async function findStartOfChange(
  context: WorkContext,
  { head }: RepositoryStart,
  { base_commit: base, order }: OrderRecord,
): Promise<string> {
  if (base === null || base === head) return head;
  const isEarlierResult = await retryStore(async () => context.lead.hasCommit(order.issue_ref, head), context);
  return isEarlierResult ? base : head;
}

async function runAndJudgeChecks(
  context: WorkContext,
  { start, record, reading: { result } }: EndedOrder,
  change: OrderChange | undefined,
  claim: HeldClaim,
): Promise<readonly Evidence[]> {
  const { lead } = context;
  const { order, run } = record;
  let checks: readonly NamedCheck[];
  try {
    checks = findChecks(order, findWrapper(order.worker, lead.wrappers), lead.checks);
  } catch (error) {
    return [notRun(`Not run: ${getErrorMessage(error)}`)];
  }
  if (checks.length === 0) return [];
  const unchanged = order.expects === 'report' && !('why' in start) ? start.head : undefined;
  const commit = change?.commit ?? unchanged;
  if (commit === undefined || 'why' in start) {
    const why = 'why' in start ? start.why : 'this order has no commit to check';
    return checks.map(({ name }) => notRun(`${name}: Not run: ${why}.`));
  }
  const steering = change === undefined ? undefined : await readSteering(start, checks, change);
  const findBases = ({ name }: NamedCheck) => steering?.get(name)?.bases ?? [];
  // A change that only adds files loses no tests.
  const canLose = change?.files.some(({ kind }) => kind !== 'added') === true;
  const before = canLose ? (change.from ?? change.base) : undefined;
  const outcomes = await runChecks(context, checks, { start, commit, run, findBases, before }, claim);
  return Promise.all(
    outcomes.map(async (outcome) => {
      if (change === undefined) return judgeCheck(outcome, result);
      const { blankTests = [], files } = change;
      const { rewritten = [], uncertain = [] } = steering?.get(outcome.check.name) ?? {};
      const found = { ...outcome, rewritten, uncertain, blankTests, changed: listPaths(files) };
      const evidence = judgeCheck(found, result);
      return { ...evidence, ...(await readDiff(lead, start, change, evidence)) };
    }),
  );
}

function notRun(detail: string): Evidence {
  return { claim: 'tests', by: 'sluice', verdict: 'unchecked', detail };
}

/** Enough for the settings of a test runner; longer patches are in the change itself. */
const MAX_DIFF_LENGTH = 16_000;
const MAX_DIFF_BYTES = 1024 * 1024;

/** Reads how a change modifies the files that keep a check from proving anything. */
async function readDiff(
  lead: WorkContext['lead'],
  start: RepositoryStart,
  { from, base, commit }: OrderChange,
  { files = [] }: Evidence,
): Promise<Pick<Evidence, 'diff'>> {
  if (files.length === 0) return {};
  const pathspecs = files.map((path) => `:(literal)${path}`);
  const patch = await withObjects(start, async (call) =>
    call(['diff-tree', '-r', '--patch', ...PLAIN_DIFF, from ?? base, commit, '--', ...pathspecs], {
      maxBytes: MAX_DIFF_BYTES,
    }),
  ).catch(() => undefined);
  const diff = patch === undefined ? '' : showText(lead.maskText(patch.stdout), MAX_DIFF_LENGTH);
  return diff === '' ? {} : { diff };
}

/** The work result in an agent's answer, or why the answer does not count. */
interface Collected {
  /** The result file, to be written unless the agent left one itself. */
  readonly file?: PackFile;
  /** A draft for the inbox, because the answer needed repair. */
  readonly draft?: unknown;
  /** The answer, and why it does not count. */
  readonly answer?: RejectedAnswer;
}

/**
 * Extracts the work result from the answer of an agent that wrote no file. It counts only if it needed no repair; it is
 * then written to a file and read by the same rules as any other result.
 */
export function collectResult(result: RunResult): Collected {
  const { status, value, text = '', comment = text, error } = result;
  if (status === 'comment') {
    const problem = 'the agent answered without tags; only a result file or an answer in <json> tags counts';
    return { answer: { text: comment, problem } };
  }
  if (status === 'failed' && error?.category === 'output') {
    return { answer: { text, problem: `the agent's answer was rejected: ${dropFullStop(error.message)}` } };
  }
  if (status !== 'success' || value === undefined) return {};
  if (result.repair_level !== 'none') {
    return { draft: value, answer: { text, problem: "the agent's answer had to be repaired, so it does not count" } };
  }
  return { file: { path: 'work_result.json', text: `${JSON.stringify(value, null, 2)}\n` } };
}
