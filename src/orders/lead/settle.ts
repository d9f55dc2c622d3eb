import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorCode, omitUndefined, type TrustedRoot } from '../../base/index.js';
import { isPresent, withFolder } from '../../base/files/index.js';
import type {
  Decision,
  Evidence,
  InboxItem,
  NewOutboxMessage,
  OrderRecord,
  Reading,
  RunResult,
} from '../../store/records/index.js';
import { createFailedResult, type Secrets } from '../../runs/index.js';
import { formatTrigger, getIssueState, renderComment } from '../comment/render-comment.js';
import { decide } from '../decide/decide.js';
import { createExecution, createItem } from '../execution.js';
import { choosePolicy } from '../proof/checks.js';
import { gatherEvidence } from '../proof/judge-result.js';
import { findWrapper, type Wrapper } from '../wrappers/wrappers.js';
import type { DecidedOrder, OrderSettlement, RaceEntry } from '../../store/ports/index.js';
import { dropFullStop } from '../plain-text.js';
import { decideRace } from '../race/decide-race.js';
import { getRepositoryFolder } from '../repos/repos.js';
import { readWorkResult, type RejectedAnswer } from '../reading/read-work-result.js';
import { RESULT_BYTES, RESULT_FILES } from '../reading/result-file.js';
import type { Sink } from '../sinks/sink.js';
import type { LeadContext } from './lead-context.js';
import { LeadError } from '../orders-error.js';

/** How an order's agent ended: its exit, its output and its result. */
export interface WorkerEnd {
  /** If exit code and signal are both null, it is unknown how the process exited. */
  readonly exitCode: number | null;
  readonly signal?: string | null;
  /** Its output; the tail is enough. */
  readonly stdout?: string | Uint8Array;
  readonly stderr?: string | Uint8Array;
  /** The folder that contains its result, if that is not the run folder. */
  readonly dir?: string;
  /** Whether all its processes have exited. If so, its result file cannot be half-written. */
  readonly hasEnded?: boolean;
  /** The run's error, besides exit code and signal. */
  readonly runError?: string;
  /** Why it could not be started. */
  readonly startError?: string;
  /** Unresolved issues that the order depends on: the agent was not started. */
  readonly unresolved?: readonly string[];
  /** It was canceled before its process started. */
  readonly canceled?: boolean;
  readonly command?: readonly string[];
  readonly workerVersion?: string | null;
  /** When it was started, if it was not claimed from this store. */
  readonly startedAt?: string | null;
  /**
   * When it was started, by this host's clock, in milliseconds since 1970. Older result files are ignored, and file
   * times follow the host's clock, not the store's. Defaults to the start time that the store recorded.
   */
  readonly filesSince?: number;
  /** The agent's answer, if it does not count as its result. */
  readonly answer?: RejectedAnswer;
  /** The agent's repaired answer, for a human to start from; it has no effect on the decision. */
  readonly draft?: unknown;
  /** A sentence for the reason of the decision, such as the branch that has the work. */
  readonly note?: string;
  /** The run's result; by default derived from exit code and signal. */
  readonly runResult?: RunResult;
  /** The return value of `Lead.read`, if the result has already been read. */
  readonly reading?: Reading;
  /** Evidence about its claims. */
  readonly evidence?: readonly Evidence[];
  /** Lines that its change adds and removes, if they were counted; ranks the results of a race. */
  readonly changedLines?: number;
  /** The worker that must hold the run when the decision is written; unchecked by default. */
  readonly heldBy?: string;
}

export interface OrderName {
  readonly issueRef: string;
  readonly runId: string;
}

/** The reading and the decision. */
export interface Settlement {
  readonly decision: Decision;
  readonly reading: Reading;
  /** The order was already settled; this is the earlier decision. */
  readonly repeated: boolean;
  /** Its race is undecided until these runs have ended; `decision` is the run's decision outside the race. */
  readonly waitsFor?: readonly string[];
}

/** Reads an agent's result, decides, and writes everything that follows in one transaction. */
export async function settle(context: LeadContext, end: OrderName & WorkerEnd): Promise<Settlement> {
  const { store, clock, newId } = context;
  const { issueRef, runId, exitCode, signal = null, canceled, runError, startError, unresolved } = end;
  const [record, issue] = await Promise.all([findRecord(context, end), store.findIssue(issueRef)]);
  const reading = end.reading ?? (await readAgentResult(context, record, end));
  const now = clock();
  const at = new Date(now).toISOString();
  const { order } = record;
  const startedAt = wasStarted(end) ? (end.startedAt ?? record.started_at) : null;
  const durationMs = startedAt === null ? null : Math.max(0, now - Date.parse(startedAt));
  const execution = {
    order,
    run: record.run,
    workerType: record.worker_type,
    command: end.command ?? [],
    workerVersion: end.workerVersion ?? null,
    startedAt,
    durationMs,
    exitCode,
    signal,
    reading,
    at,
  };
  const evidence = gatherEvidence(reading, order, end, end.evidence ?? []);
  const decisionInput = {
    ...execution,
    evidence: evidence.map((one) => ({ ...one, detail: context.secrets.maskText(one.detail) })),
    lastOutput: readLastOutput(context, end),
    ...readPolicy(context, order),
    ...omitUndefined({ canceled, runError, startError, unresolved }),
  };

  // The guarded update in the store chooses between these two decisions, because the active run can change until then.
  const decideIf = (activeRunId: string | null | undefined): Decision => {
    const decision = decide({ ...decisionInput, activeRunId });
    return end.note === undefined ? decision : { ...decision, reason: `${decision.reason} ${end.note}` };
  };
  const ifActive = decideIf(runId);
  const active = issue?.active_run_id ?? null;
  // If the run is active now, it can be stale only because another run becomes active before the update.
  const ifStale = decideIf(active === runId ? undefined : active);
  const outcome = await store.settleOrder({
    issueRef,
    runId,
    now,
    runResult: end.runResult ?? createRunResult(end),
    ...(end.heldBy === undefined ? {} : { heldBy: end.heldBy }),
    active: {
      ...createDecidedOrder(context, { ...execution, decision: ifActive }),
      state: getIssueState(ifActive) ?? 'needs-human',
    },
    stale: {
      decision: ifStale,
      result: reading.result ?? null,
      execution: createExecution({ ...execution, id: newId(), decision: ifStale }),
    },
    ...(record.group === undefined
      ? {}
      : { race: enterRace(context, record.group, { ...execution, decision: ifActive }, end.changedLines ?? null) }),
  });
  const { decision, repeated, waitsFor } = outcome;
  const fields = { issue_ref: issueRef, run_id: runId, source: reading.source, action: decision.action, repeated };
  context.logger.info(waitsFor === undefined ? 'order settled' : 'race entered', fields);
  return { decision, reading, repeated, ...(waitsFor === undefined ? {} : { waitsFor }) };
}

type EndedOrder = RaceEntry['execution'];

/** Creates a decided order: the decision and the rows that follow from it, with new ids. */
function createDecidedOrder(context: LeadContext, execution: EndedOrder, group?: string): DecidedOrder {
  const { order, reading, decision } = execution;
  const item = (): InboxItem => ({
    ...createItem({ ...execution, id: context.newId() }),
    ...(group === undefined ? {} : { group }),
  });
  const subject = { issueRef: order.issue_ref, trigger: formatTrigger(order) };
  const comment: CommentInLanguage = (language) =>
    renderComment({ order, reading, decision }, context.commentTemplate, language);
  return {
    decision,
    result: reading.result ?? null,
    execution: createExecution({ ...execution, id: context.newId() }),
    item: decision.action === 'needs-human' ? item() : null,
    outbox: decision.action === 'archive' ? [] : createMessages(context, subject, comment),
  };
}

/** Creates a run's race entry, and the function that concludes the race if this run was the last. */
function enterRace(
  context: LeadContext,
  group: string,
  execution: EndedOrder,
  lines: number | null,
): NonNullable<OrderSettlement['race']> {
  return {
    group,
    entry: { execution, lines },
    conclude: (raceEntries) => {
      const { winner, entries } = decideRace(raceEntries);
      return {
        winner,
        state: winner === null ? 'needs-human' : 'review',
        orders: entries.map(({ entry, decision }) => ({
          runId: entry.execution.order.run_id,
          ...createDecidedOrder(context, { ...entry.execution, decision }, group),
        })),
      };
    },
  };
}

async function findRecord(
  { store }: Pick<ReadingContext, 'store'>,
  { issueRef, runId }: OrderName,
): Promise<OrderRecord> {
  const record = await store.findOrder(issueRef, runId);
  if (record !== undefined) return record;
  throw new LeadError('ORDER_NOT_FOUND', `Cannot find the order "${runId}" for issue "${issueRef}". Submit it first.`);
}

/** The files and secrets of the host that executed an order. */
export interface ReadingContext extends Pick<LeadContext, 'data' | 'secrets' | 'getRunFolder'> {
  readonly store: Pick<LeadContext['store'], 'findOrder'>;
}

/** Reads an agent's result without deciding on it. */
export async function readResult(context: ReadingContext, end: OrderName & WorkerEnd): Promise<Reading> {
  return readAgentResult(context, await findRecord(context, end), end);
}

/**
 * Returns the policy of the order's wrapper. If the wrapper is no longer configured, the policy depends on the order's
 * checks.
 */
export function readPolicy({ wrappers }: Pick<LeadContext, 'wrappers'>, order: OrderRecord['order']) {
  let wrapper: Wrapper;
  try {
    wrapper = findWrapper(order.worker, wrappers);
  } catch (error) {
    if (getErrorCode(error) !== 'UNKNOWN_WORKER') throw error;
    wrapper = { type: order.worker };
  }
  return { policy: choosePolicy(order, wrapper), checks: order.checks ?? wrapper.checks ?? [] };
}

async function readAgentResult(context: ReadingContext, record: OrderRecord, end: WorkerEnd): Promise<Reading> {
  // An agent that was not started has nothing to report; any files in the folder come from something else.
  if (!wasStarted(end)) return { source: 'none', problems: [] };
  const startedAt = end.filesSince ?? end.startedAt ?? record.started_at;
  const dir = end.dir ?? context.getRunFolder(record.run);
  // A caller that passes another folder trusts it.
  const trustedRoot = end.dir === undefined ? context.data : undefined;
  await maskResultFiles(context, dir, { trustedRoot });
  const reading = await readWorkResult({
    dir,
    trustedRoot,
    stdout: end.stdout ?? '',
    stderr: end.stderr ?? '',
    ...(end.answer === undefined ? {} : { answer: { ...end.answer, text: context.secrets.maskText(end.answer.text) } }),
    order: { repo_dir: getRepositoryFolder(context.data, record.order) },
    // Masked again, because a file that is read-only or in another encoding could not be masked on disk.
    maskText: (text) => context.secrets.maskText(text),
    ...(startedAt === null ? {} : { startedAt }),
    hasEnded: end.hasEnded,
  });
  const draft = reading.result === undefined ? end.draft : undefined;
  const needsChange = record.order.expects !== 'report';
  const problems = reading.problems.filter(({ code }) => needsChange || code !== 'CHANGES_MISSING');
  return { ...reading, problems, ...omitUndefined({ draft }) };
}

function wasStarted({ startError, unresolved = [], canceled = false }: WorkerEnd): boolean {
  return startError === undefined && unresolved.length === 0 && !canceled;
}

/** More than a reason quotes. */
const LAST_OUTPUT_LENGTH = 4096;

/** Returns the end of what the agent printed: of its error output, which explains a failure, or else of the rest. */
export function readLastOutput(
  { secrets }: Pick<LeadContext, 'secrets'>,
  { stdout = '', stderr = '' }: WorkerEnd,
): string {
  const [errors = '', output = ''] = [stderr, stdout].map((each) => Buffer.from(each).toString().trimEnd());
  // Masked before it is cut, so no part of a secret is left.
  return secrets.maskText(errors === '' ? output : errors).slice(-LAST_OUTPUT_LENGTH);
}

/** Creates the result of a run that Sluice did not execute itself, or never started. */
function createRunResult(end: WorkerEnd): RunResult {
  const { exitCode, signal = null, command = [], workerVersion = null } = end;
  if (!wasStarted(end)) {
    const why = end.startError ?? (end.canceled === true ? 'it was canceled' : 'issues it depends on are not resolved');
    return createFailedResult('RUN_NOT_STARTED', `The run was not started: ${dropFullStop(why)}.`);
  }
  const process = { exit_code: exitCode, signal, command, version: workerVersion };
  const result = createFailedResult('PROCESS_EXIT_NON_ZERO', 'The process did not exit with code 0.');
  if (exitCode !== 0) return { ...result, process };
  const { error: _, ...rest } = result;
  return { ...rest, status: 'success', process };
}

const READ_AND_WRITE = constants.O_RDWR | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Masks secrets in an agent's result files without changing their length, as was done with its output: results are
 * quoted in comments that others read. The file times are restored, because they distinguish an old result from a new one.
 */
async function maskResultFiles(
  { secrets }: Pick<LeadContext, 'secrets'>,
  dir: string,
  root: TrustedRoot,
): Promise<void> {
  for (const name of RESULT_FILES) {
    // A file that cannot be written stays unchanged; its content is masked when it is read.
    const file = await withFolder(dir, root, {
      work: async (folder) =>
        (await isPresent(join(folder, name))) ? open(join(folder, name), READ_AND_WRITE) : undefined,
      undo: async (openedFile) => openedFile?.close(),
    }).catch(() => undefined);
    if (file === undefined) continue;
    try {
      await maskFile(file, secrets.createMasker());
    } finally {
      await file.close();
    }
  }
}

/**
 * Masks one file in place. A file with a second hard link might belong to another user and is left unchanged; a file
 * that is too large would not be read as a result anyway.
 */
async function maskFile(file: FileHandle, masker: ReturnType<Secrets['createMasker']>): Promise<void> {
  const stats = await file.stat();
  if (!stats.isFile() || stats.nlink > 1 || stats.size > RESULT_BYTES) return;
  const bytes = Buffer.alloc(stats.size);
  const { bytesRead } = await file.read(bytes, 0, stats.size, 0);
  const text = bytes.subarray(0, bytesRead);
  const masked = Buffer.concat([masker.push(text), masker.end()]);
  if (masked.equals(text)) return;
  await file.write(masked, 0, masked.length, 0);
  await file.utimes(stats.atime, stats.mtime);
}

/** Renders a comment in the language of a sink. */
export type CommentInLanguage = (language: Sink['language']) => string;

/** Creates one message for every sink that accepts the issue. */
export function createMessages(
  { sinks, newId }: Pick<LeadContext, 'sinks' | 'newId'>,
  subject: { readonly issueRef: string; readonly trigger: string },
  render: CommentInLanguage,
): readonly NewOutboxMessage[] {
  return sinks
    .filter((sink) => sink.accepts(subject.issueRef))
    .map(({ name, language }) => ({
      id: newId(),
      sink: name,
      issue_ref: subject.issueRef,
      trigger: subject.trigger,
      body: render(language),
    }));
}
