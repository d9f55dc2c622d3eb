import { join } from 'node:path';
import type { CapturedChunk } from '../audit/index.js';
import { isRasp } from '../events/index.js';
import type { Emitted, FcmpEvent, Verdict } from '../events/index.js';
import { Answer } from './answer.js';
import type { AttemptOutcome } from './attempt-outcome.js';
import { AttemptRecord } from './attempt-record.js';
import { captureOutput } from './capture-output.js';
import { decideVerdict, isAsking } from './decide-verdict.js';
import { endEscaped } from './end-escaped.js';
import { engineVersion } from './engine-version.js';
import { judgeOutput } from './judge-output.js';
import { NO_CHANGES } from './merge-fs-diffs.js';
import { messageOf } from './message-of.js';
import { OutputGauge } from './output-gauge.js';
import { environmentOf, prepareLaunch, programOf } from './prepare-launch.js';
import type { PreparedLaunch } from './prepare-launch.js';
import { recordProcess } from './process/process-record.js';
import type { ProcessEnd, RunningProcess } from './process/running-process.js';
import { startProcess } from './process/start-process.js';
import type { RunContext } from './run-context.js';
import { modeOf } from './run-context.js';
import { watchFolder } from './watch-folder.js';
import type { FolderWatch } from './watch-folder.js';

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
    return endUnstarted(context, plan, { verdict: 'not_started', reason: messageOf(error) });
  }
  const { secrets } = prepared;
  const answer = new Answer(
    context.spec.engine === 'command' && context.spec.terminal !== true ? 'stdout' : 'messages',
  );
  const record = openRecord(
    context,
    { ...plan, reply: plan.reply === null ? null : secrets.maskText(plan.reply) },
    answer,
  );
  try {
    const command = prepared.command.map((word) => secrets.maskText(word));
    await record.begin({
      command,
      input: secrets.maskText(prepared.stdin ?? plan.prompt),
    });
    const version = versionOf(context);
    const run = await runProcess(context, plan, prepared, record);
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

interface Unstarted {
  readonly verdict: Verdict;
  readonly reason: string;
}

async function tellUnstarted(context: RunContext, record: AttemptRecord, end: Unstarted): Promise<AttemptOutcome> {
  const ended = await record.end({ exitCode: null, signal: null, verdict: end.verdict, reason: end.reason });
  await tellEnd(context, record, ended);
  return { last: ended.last, judged: null, fsDiff: NO_CHANGES, warnings: [], message: undefined };
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
  { control, progress }: RunContext,
  record: AttemptRecord,
  { events, last }: { readonly events: readonly Emitted[]; readonly last: FcmpEvent },
): Promise<void> {
  if (last.type === 'user.input.required') control.ask();
  await record.tellEnd(events);
  progress.fcmpSeq = record.fcmpSeq;
}

/** Runs the process to its end, or says why it was not started. */
async function runProcess(
  context: RunContext,
  plan: AttemptPlan,
  prepared: PreparedLaunch,
  record: AttemptRecord,
): Promise<Unstarted | { readonly end: ProcessEnd; readonly pid: number }> {
  const { control, ports, runDir, spec } = context;
  if (control.stop !== null) return control.stop;
  const note = await recordProcess(join(ports.data, 'processes'), runDir);
  let running: RunningProcess;
  try {
    const { command, env, stdin } = prepared;
    const input = stdin === undefined ? {} : { stdin };
    running = await startProcess({ command, cwd: plan.workdir, env, ...input, terminal: spec.terminal ?? false });
  } catch (error) {
    await note.forget();
    return { verdict: 'not_started', reason: prepared.secrets.maskText(messageOf(error)) };
  }
  try {
    await note.started(running.identity);
    await follow(context, prepared, record, running);
    return { end: await running.ended, pid: running.identity.pid };
  } finally {
    await running.stop().catch((error: unknown) => {
      ports.logger.warn('a process of the run could not be ended', { run_id: context.id, error: messageOf(error) });
    });
    await endEscaped(runDir);
    await note.forget();
  }
}

/** Takes in all the process prints; a stop ends its group. */
async function follow(
  context: RunContext,
  { secrets }: PreparedLaunch,
  record: AttemptRecord,
  running: RunningProcess,
): Promise<void> {
  const { control, limits, progress } = context;
  const gauge = new OutputGauge(limits, progress.printed);
  const end = (): void => void running.stop().catch(() => undefined);
  const takeBack = control.onStop(end);
  try {
    await captureOutput({
      output: running.output,
      gauge,
      mask: (stream, bytes) => secrets.mask(stream, bytes),
      endMask: () => secrets.endMask(),
      now: () => record.now(),
      keep: async (chunks) => keep(context, record, chunks),
      stop: (stop) => control.requestStop(stop),
      abandon: end,
      idleMs: limits.idle_s * 1000,
    });
  } finally {
    takeBack();
    progress.printed = gauge.bytes;
  }
}

/** Keeps what was printed, and looks whether the budget holds. */
async function keep(context: RunContext, record: AttemptRecord, chunks: readonly CapturedChunk[]): Promise<void> {
  const { usage, limits, control, progress } = context;
  const events = await record.keep(chunks);
  progress.fcmpSeq = record.fcmpSeq;
  countUsage(context, events);
  if (usage.tokens > limits.tokens) {
    control.requestStop({ verdict: 'limit', reason: `The run used more than limits.tokens, ${limits.tokens}.` });
  } else if (usage.cost > limits.cost) {
    control.requestStop({ verdict: 'limit', reason: `The run cost more than limits.cost, ${limits.cost} dollars.` });
  }
}

function countUsage({ usage }: RunContext, events: readonly Emitted[]): void {
  for (const { protocol, event } of events) {
    if (protocol !== 'rasp' || !isRasp(event, 'lifecycle.run.status')) continue;
    if (event.data.usage !== undefined) usage.add(event.data.usage);
  }
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
