import type { Emitted, FcmpEvent } from '../../events/index.js';
import { errorMessageOf } from '../../base/index.js';
import { AttemptRecord } from '../capture/attempt-record.js';
import { Answer } from '../judge/answer.js';
import { decideVerdict, isAsking } from '../judge/decide-verdict.js';
import { judgeOutput } from '../judge/judge-output.js';
import { engineVersion } from '../prepare/engine-version.js';
import { environmentOf, prepareLaunch, programOf } from '../prepare/prepare-launch.js';
import type { PreparedLaunch } from '../prepare/prepare-launch.js';
import { NO_CHANGES } from '../result/merge-fs-diffs.js';
import { watchFolder } from '../workspace/watch-folder.js';
import type { FolderWatch } from '../workspace/watch-folder.js';
import type { AttemptOutcome } from './attempt-outcome.js';
import type { RunContext } from './run-context.js';
import { modeOf } from './run-context.js';
import { countUsage, runProcess } from './run-process.js';
import type { Unstarted } from './run-process.js';

/** What the next attempt is to do. */
export interface AttemptPlan {
  readonly workdir: string;
  readonly prompt: string;
  /** The session to go on with; null begins a new one. */
  readonly sessionId: string | null;
  /** The answer of a person it is started with. */
  readonly reply: string | null;
  /** Whether a refused output may be sent back once more. */
  readonly mayRetry: boolean;
}

/** Starts the agent once, follows it to its end, and judges what it said. */
export async function conductAttempt(context: RunContext, plan: AttemptPlan): Promise<AttemptOutcome> {
  let prepared: PreparedLaunch;
  let changes: FolderWatch;
  try {
    prepared = await prepareLaunch(context, plan);
    changes = await watchFolder(plan.workdir, context.ports.data);
  } catch (error) {
    return endUnstarted(context, plan, { verdict: 'not_started', reason: errorMessageOf(error) });
  }
  const { secrets } = prepared;
  const answer = new Answer(isHeldWhole(context) ? 'stdout' : 'messages');
  const record = openRecord(
    context,
    { ...plan, reply: plan.reply === null ? null : secrets.maskText(plan.reply) },
    answer,
  );
  try {
    const command = prepared.command.map((word) => secrets.maskText(word));
    await record.begin({ command, input: secrets.maskText(prepared.stdin ?? plan.prompt) });
    const version = versionOf(context);
    const run = await runProcess(context, plan.workdir, prepared, record);
    if (!('end' in run)) return await tellUnstarted(context, record, run);
    const { fsDiff, warnings } = await changes.difference();
    const drained = record.drain();
    context.progress.sessionId = drained.sessionId ?? context.progress.sessionId;
    const { stop } = context.control;
    const isJudged = stop === null && !isAsking(modeOf(context), drained);
    const judged = isJudged ? await judgeOutput(answer.text, context.spec.contract, context.schema) : null;
    const { mayRetry } = plan;
    const decided = decideVerdict({ stop, judged, drained, end: run.end, mayRetry });
    const ended = await record.end({ ...run.end, ...decided, fsDiff, pid: run.pid, version: await version });
    countUsage(context, ended.events);
    await tellEnd(context, record, ended);
    return {
      last: ended.last,
      judged,
      fsDiff,
      warnings: [...warnings, ...conflictsIn(ended.events)],
      drift: record.drift,
      message: answer.message,
      process: {
        exit_code: run.end.exitCode,
        signal: run.end.signal,
        command,
        version: (await version) ?? null,
      },
    };
  } finally {
    await record.close();
  }
}

/** Of a plain program all it prints is held against its contract; a terminal shows more than that. */
function isHeldWhole({ spec }: RunContext): boolean {
  return spec.engine === 'command' && spec.contract !== undefined && spec.terminal !== true;
}

/** An attempt that never becomes a process: it could not be started, or the run ends before. */
export async function endUnstarted(
  context: RunContext,
  plan: Pick<AttemptPlan, 'sessionId' | 'reply'>,
  end: Unstarted,
): Promise<AttemptOutcome> {
  const record = openRecord(context, plan, new Answer('messages'));
  await record.begin();
  return tellUnstarted(context, record, end);
}

async function tellUnstarted(context: RunContext, record: AttemptRecord, end: Unstarted): Promise<AttemptOutcome> {
  const ended = await record.end({ exitCode: null, signal: null, verdict: end.verdict, reason: end.reason });
  await tellEnd(context, record, ended);
  return { last: ended.last, judged: null, fsDiff: NO_CHANGES, warnings: [], drift: null, message: undefined };
}

function openRecord(
  context: RunContext,
  { sessionId, reply }: Pick<AttemptPlan, 'sessionId' | 'reply'>,
  answer: Answer,
): AttemptRecord {
  const { id, spec, launcher, progress, folder, journal, ports } = context;
  progress.attempts += 1;
  progress.sessionId = sessionId;
  const start = {
    runId: id,
    attempt: progress.attempts,
    engine: spec.engine,
    reads: launcher.reads,
    mode: modeOf(context),
    fcmpSeq: progress.fcmpSeq,
    sessionId,
    reply,
    cachedFrom: null,
    answer,
  };
  return new AttemptRecord(start, folder, journal, ports.clock);
}

/** A question is open before anyone hears of it: who hears it may answer at once. */
async function tellEnd(
  { control, progress, ports }: RunContext,
  record: AttemptRecord,
  { events, last }: { readonly events: readonly Emitted[]; readonly last: FcmpEvent },
): Promise<void> {
  if (last.type === 'user.input.required') {
    control.ask();
    await ports.onQuestion();
  }
  await record.tellEnd(events);
  progress.fcmpSeq = record.fcmpSeq;
}

/** Asked while the agent works, so that nobody waits for it. */
async function versionOf(context: RunContext): Promise<string | undefined> {
  const words = programOf(context, context.launcher.program);
  // Without the run's marker: it is no process of the run, and must not be ended with it.
  return engineVersion(context.launcher, words, environmentOf(context)).catch(() => undefined);
}

/** A success against which something speaks must not look like one without. */
function conflictsIn(events: readonly Emitted[]): AttemptOutcome['warnings'] {
  return events.flatMap(({ protocol, event }) => {
    if (protocol !== 'fcmp' || event.type !== 'diagnostic.warning') return [];
    const { code, message } = event.data;
    return code === 'TERMINAL_STATUS_COMPLETION_CONFLICT' ? [{ code, message }] : [];
  });
}
