import { stat } from 'node:fs/promises';
import { type Emitted, type FcmpData, type FcmpEvent, advanceTail, isRasp } from '../../events/index.js';
import { SluiceError } from '../../base/index.js';
import { readFsDiff, readRunEvents, rewriteRunLogs, writeAttemptMeta } from '../run-folder/index.js';
import type { WritableRunFolder } from '../run-folder/index.js';
import type { EventFeed } from '../capture/event-feed.js';
import type { PermissionQuestion, StoredAnswer } from '../conversation/approvals.js';
import { addDrift, mergeFsDiffs } from '../result/run-findings.js';
import { readEventLog } from '../../store/ports/index.js';
import { addFindings, type RunContext } from './run-context.js';
import { createSessionLostError } from './saved-session.js';

/** The work of a run when its process was lost. */
export type RecoveredRun =
  | { readonly kind: 'question'; readonly askedAt: number }
  | {
      readonly kind: 'permissions';
      readonly questions: readonly PermissionQuestion[];
      /** Answers given while no process was running. */
      readonly answers: readonly StoredAnswer[];
      readonly askedAt: number;
    }
  /** `losses`: the number of times the worker was lost while the agent was working. */
  | { readonly kind: 'working'; readonly losses: number };

const BATCH_SIZE = 500;

/**
 * Recovers a run from its folder: closes the interrupted attempt, publishes unpublished events, and restores the
 * progress of its attempts. Open questions come from the event log, because the agent could have written to the folder.
 * Throws `RUN_NOT_RESUMABLE` if the run has ended.
 */
export async function recoverRun(context: Omit<RunContext, 'journal'>, feed: EventFeed): Promise<RecoveredRun> {
  const { folder, id, ports, progress, runDir } = context;
  const attempts = await folder.attempts();
  const last = attempts.at(-1) ?? 0;
  const loggedHistory = new History(last);
  const logged = ports.eventLog === null ? readRunEvents(folder, 'fcmp') : readEventLog(ports.eventLog, id, 'fcmp');
  for await (const { protocol, event } of logged) if (protocol === 'fcmp') loggedHistory.add(event);
  // It was saved on another host, and has been resumed since.
  if ((loggedHistory.last?.meta.attempt ?? 0) > last) throw createSessionLostError('it is older than the run');
  await endLastAttempt(context, folder, last, loggedHistory);

  let batch: Emitted[] = [];
  const publishBatch = async (): Promise<void> => {
    const events = batch;
    batch = [];
    addFindings(context, events);
    // The log ignores events that it already has.
    await ports.eventLog?.append(id, events);
    feed.publish(events);
  };
  const rebuiltHistory = new History(last);
  const rebuilt = rewriteRunLogs(runDir, {
    engines: ports.engines,
    onDrift(summary) {
      progress.drift = addDrift(progress.drift, summary);
    },
  });
  for await (const emitted of rebuilt) {
    updateProgress(context, emitted);
    if (emitted.protocol === 'fcmp') rebuiltHistory.add(emitted.event);
    batch.push(emitted);
    if (batch.length >= BATCH_SIZE) await publishBatch();
  }
  await publishBatch();
  progress.attempts = last;
  progress.printedBytes = await countPrintedBytes(folder, attempts);

  for (const attempt of attempts) {
    const changes = await readFsDiff(folder, attempt, () => undefined);
    if (changes !== undefined) progress.artifacts = mergeFsDiffs(progress.artifacts, changes);
  }
  progress.retries = rebuiltHistory.retries;
  return findState(id, rebuiltHistory, loggedHistory);
}

export function createNotResumableError(id: string): SluiceError {
  return new SluiceError('RUN_NOT_RESUMABLE', `Cannot resume run ${id}: it has ended. Start a new run.`);
}

/** The remaining time for an answer; at least five seconds, so one that was posted meanwhile is accepted. */
export function computeRemainingWait(askedAt: number, waitS: number, now: number): number {
  return Math.max(Math.min(5000, waitS * 1000), Math.min(waitS * 1000, askedAt + waitS * 1000 - now));
}

/**
 * Records the end of an interrupted attempt: it was waiting for an answer, or working. Answers that were not published
 * are removed: the agent could have written them, and a real one is delivered again.
 */
async function endLastAttempt(
  { ports }: Pick<RunContext, 'ports'>,
  folder: WritableRunFolder,
  attempt: number,
  { answers: published, openQuestions }: History,
): Promise<void> {
  const { answers = [], ...meta } = await folder.meta(attempt);
  const isPublished = (id: string): boolean => published.some(({ question }) => question.interaction_id === id);
  const kept = answers.filter(({ interaction_id: id }) => isPublished(id));
  if (meta.finished_at !== undefined && kept.length === answers.length) return;
  await writeAttemptMeta(folder, attempt, {
    finished_at: new Date(Math.floor(ports.clock())).toISOString(),
    exit_code: null,
    signal: null,
    verdict: openQuestions.length > 0 ? 'held' : 'worker_lost',
    ...meta,
    ...(kept.length === 0 ? {} : { answers: kept }),
  });
}

function findState(id: string, rebuiltHistory: History, loggedHistory: History): RecoveredRun {
  const { last, isPending, workerLosses: losses } = rebuiltHistory;
  if (last?.type === 'conversation.completed' || last?.type === 'conversation.failed')
    throw createNotResumableError(id);
  if (last?.type === 'user.input.required') return { kind: 'question', askedAt: Date.parse(last.ts) };
  const { openQuestions: questions, answers, askedAt } = loggedHistory;
  if (last === null || !isPending || questions.length + answers.length === 0) return { kind: 'working', losses };
  return { kind: 'permissions', questions, answers, askedAt: askedAt ?? Date.parse(last.ts) };
}

class History {
  readonly #lastAttempt: number;
  readonly #open = new Map<string, PermissionQuestion>();
  /** Answers that arrived after the process had been stopped. */
  readonly answers: StoredAnswer[] = [];
  /** Whether the process was stopped while it waited for a permission; only answers follow. */
  isPending = false;
  last: FcmpEvent | null = null;
  /** When the oldest question of the last attempt was asked. */
  askedAt: number | null = null;
  retries = 0;
  workerLosses = 0;

  constructor(lastAttempt: number) {
    this.#lastAttempt = lastAttempt;
  }

  /** Unanswered questions from the last attempt. */
  get openQuestions(): readonly PermissionQuestion[] {
    return [...this.#open.values()];
  }

  add(event: FcmpEvent): void {
    this.last = event;
    if (event.type !== 'permission.replied')
      this.isPending = event.type === 'diagnostic.warning' && event.data.code === 'PERMISSION_PENDING';
    if (event.type === 'diagnostic.warning') {
      if (event.data.code === 'OUTPUT_RETRIED') this.retries += 1;
      if (event.data.code === 'WORKER_LOST') this.workerLosses += 1;
    }
    if (event.meta.attempt !== this.#lastAttempt) return;
    if (event.type === 'permission.required') {
      this.#open.set(event.data.interaction_id, event.data);
      this.askedAt ??= Date.parse(event.ts);
    }
    if (event.type === 'permission.replied') this.#answer(event.data);
  }

  #answer({
    interaction_id: id,
    decision: decide,
    option_id: optionId,
    ...author
  }: FcmpData<'permission.replied'>): void {
    const question = this.#open.get(id);
    this.#open.delete(id);
    if (question !== undefined && this.isPending) this.answers.push({ question, decide, optionId, ...author });
  }
}

function updateProgress({ progress, usage, findings }: Omit<RunContext, 'journal'>, emitted: Emitted): void {
  const { protocol, event } = emitted;
  progress.tail = advanceTail(progress.tail, [emitted]);
  if (protocol === 'rasp') {
    if (!isRasp(event, 'lifecycle.run.started')) return;
    findings.startAttempt();
    if (!event.data.resumed) usage.startSession();
    return;
  }
  progress.sessionId = event.correlation.session_id ?? progress.sessionId;
  if (event.type === 'user.input.replied') progress.replies += 1;
  if (event.type === 'assistant.message.final' && event.data.parent_tool_call_id === undefined)
    progress.text = event.data.text;
}

async function countPrintedBytes(folder: WritableRunFolder, attempts: readonly number[]): Promise<number> {
  let bytes = 0;
  for (const attempt of attempts) {
    for (const stream of ['stdout', 'stderr', 'pty'] as const) {
      bytes += (await stat(folder.attemptPath(stream, attempt)).catch(() => undefined))?.size ?? 0;
    }
  }
  return bytes;
}
