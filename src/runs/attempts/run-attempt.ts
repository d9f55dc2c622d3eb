import type { DriftSummary, FcmpEvent, FsDiff, Emitted } from '../../events/index.js';
import { judgeOutput } from '../judge/judge-output.js';
import type { JudgedOutput } from '../judge/judge-output.js';
import type { RunProcess, RunWarning } from '../../records/index.js';
import { errorMessageOf } from '../../base/index.js';
import { AttemptRecord } from '../capture/attempt-record.js';
import { AnswerCollector } from '../judge/answer.js';
import { decideVerdict, isAsking } from '../judge/decide-verdict.js';
import { engineVersion } from '../launch/engine-version.js';
import { selectAgentEnvironment, prepareLaunch, getProgramCommand } from '../launch/prepare-launch.js';
import type { PreparedLaunch } from '../launch/prepare-launch.js';
import { NO_CHANGES } from '../result/merge-fs-diffs.js';
import { watchFolder } from '../workspace/watch-folder.js';
import type { FolderWatch } from '../workspace/watch-folder.js';
import { getRunMode } from './run-context.js';
import type { RunContext } from './run-context.js';
import { countUsage, captureProcess } from './capture-process.js';
import type { Unstarted } from './capture-process.js';

/** How an attempt ended. */
export interface AttemptOutcome {
  /** The attempt's last FCMP event: it says how the run stands. */
  readonly last: FcmpEvent;
  /** Null where there was nothing to judge: the attempt was stopped, or the agent asks. */
  readonly judged: JudgedOutput | null;
  readonly fsDiff: FsDiff;
  readonly warnings: readonly RunWarning[];
  /** What was met that no reader knows; null if everything was. */
  readonly drift: DriftSummary | null;
  /** The agent's last words. */
  readonly message: string | undefined;
  /** Absent where no process was started. */
  readonly process?: RunProcess;
}

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
export async function runAttempt(context: RunContext, plan: AttemptPlan): Promise<AttemptOutcome> {
  let prepared: PreparedLaunch;
  let changes: FolderWatch;
  try {
    prepared = await prepareLaunch(context, plan);
    changes = await watchFolder(plan.workdir, context.ports.data);
  } catch (error) {
    return recordUnstarted(context, plan, { verdict: 'not_started', reason: errorMessageOf(error) });
  }
  const { secrets } = prepared;
  const answer = new AnswerCollector(isHeldWhole(context) ? 'stdout' : 'messages');
  const record = openRecord(
    context,
    { ...plan, reply: plan.reply === null ? null : secrets.maskText(plan.reply) },
    answer,
  );
  try {
    const command = prepared.command.map((word) => secrets.maskText(word));
    await record.begin({ command, input: secrets.maskText(prepared.stdin ?? plan.prompt) });
    const version = askVersion(context);
    const run = await captureProcess(context, plan.workdir, prepared, record);
    if (!('end' in run)) return await endUnstarted(context, record, run);
    const { fsDiff, warnings } = await changes.difference();
    const drained = record.drain(run.end);
    context.progress.sessionId = drained.sessionId ?? context.progress.sessionId;
    const { stop } = context.control;
    const isJudged = stop === null && !isAsking(getRunMode(context), drained);
    const judged = isJudged ? await judgeOutput(answer.text, context.spec.contract, context.schema) : null;
    const { mayRetry } = plan;
    const decided = decideVerdict({ stop, judged, drained, end: run.end, mayRetry });
    const ended = await record.end({ ...run.end, ...decided, fsDiff, pid: run.pid, version: await version });
    countUsage(context, ended.events);
    await emitEnd(context, record, ended);
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
export async function recordUnstarted(
  context: RunContext,
  plan: Pick<AttemptPlan, 'sessionId' | 'reply'>,
  end: Unstarted,
): Promise<AttemptOutcome> {
  const record = openRecord(context, plan, new AnswerCollector('messages'));
  await record.begin();
  return endUnstarted(context, record, end);
}

async function endUnstarted(context: RunContext, record: AttemptRecord, end: Unstarted): Promise<AttemptOutcome> {
  const ended = await record.end({ exitCode: null, signal: null, verdict: end.verdict, reason: end.reason });
  await emitEnd(context, record, ended);
  return { last: ended.last, judged: null, fsDiff: NO_CHANGES, warnings: [], drift: null, message: undefined };
}

function openRecord(
  context: RunContext,
  { sessionId, reply }: Pick<AttemptPlan, 'sessionId' | 'reply'>,
  answer: AnswerCollector,
): AttemptRecord {
  const { id, spec, launcher, progress, folder, journal, ports } = context;
  progress.attempts += 1;
  progress.sessionId = sessionId;
  const start = {
    runId: id,
    attempt: progress.attempts,
    engine: spec.engine,
    reads: launcher.reads,
    mode: getRunMode(context),
    fcmpSeq: progress.fcmpSeq,
    sessionId,
    reply,
    cachedFrom: null,
    answer,
  };
  return new AttemptRecord(start, folder, journal, ports.clock);
}

/** A question is open before anyone hears of it: who hears it may answer at once. */
async function emitEnd(
  { control, progress, ports }: RunContext,
  record: AttemptRecord,
  { events, last }: { readonly events: readonly Emitted[]; readonly last: FcmpEvent },
): Promise<void> {
  if (last.type === 'user.input.required') {
    control.ask();
    await ports.onQuestion();
  }
  await record.emitEnd(events);
  progress.fcmpSeq = record.fcmpSeq;
}

/** Asked while the agent works, so that nobody waits for it. */
async function askVersion(context: RunContext): Promise<string | undefined> {
  const words = getProgramCommand(context, context.launcher.program);
  // Without the run's marker: it is no process of the run, and must not be ended with it.
  return engineVersion(context.launcher, words, selectAgentEnvironment(context)).catch(() => undefined);
}

/** A success against which something speaks must not look like one without. */
function conflictsIn(events: readonly Emitted[]): AttemptOutcome['warnings'] {
  return events.flatMap(({ protocol, event }) => {
    if (protocol !== 'fcmp' || event.type !== 'diagnostic.warning') return [];
    const { code, message } = event.data;
    return code === 'TERMINAL_STATUS_COMPLETION_CONFLICT' ? [{ code, message }] : [];
  });
}
