import { findCause, type DrainResult, type Emitted, type FcmpEvent } from '../../events/index.js';
import { judgeOutput, type JudgedOutput } from '../judge/judge-output.js';
import type { RunProcess, RunWarning } from '../../store/records/index.js';
import { getErrorMessage } from '../../base/index.js';
import { AttemptRecord } from '../capture/attempt-record.js';
import { AnswerCollector, chooseAnswerSource } from '../judge/answer.js';
import { decideVerdict, isAsking, hasSucceeded } from '../judge/decide-verdict.js';
import { findEngineVersion } from '../launch/engine-version.js';
import { selectAgentEnvironment, prepareLaunch, getProgramCommand, isInContainer } from '../launch/prepare-launch.js';
import type { PreparedLaunch } from '../launch/prepare-launch.js';
import { isVersionIn } from '../launchers/version.js';
import type { EngineFailure } from '../result/run-findings.js';
import { trackChanges, type ChangeTracker } from '../workspace/track-changes.js';
import { getRunMode, warn, type RunContext } from './run-context.js';
import { captureProcess, type AttemptPlan, type CaptureResult, type LaunchRefusal } from './capture-process.js';
import { createAttemptSecrets } from '../secrets/compile-secrets.js';
import type { LiveAgent } from './live-agent.js';

export interface AttemptOutcome extends Pick<CaptureResult, 'agent' | 'unansweredPermissions' | 'unusedAnswers'> {
  /** The attempt's last FCMP event, which contains the run's state. */
  readonly last: FcmpEvent;
  /** Null if there was nothing to judge: the attempt was stopped, or the agent asked a question. */
  readonly judged: JudgedOutput | null;
  readonly warnings: readonly RunWarning[];
  /** The error that made the process fail; null if it succeeded or the engine reported no error. */
  readonly engineFailure: EngineFailure | null;
  /** Absent if no process was started. */
  readonly process?: RunProcess;
}

/** Runs the agent once: launches it or starts its next turn, captures its output, and judges its answer. */
export async function runAttempt(context: RunContext, plan: AttemptPlan): Promise<AttemptOutcome> {
  let prepared: PreparedLaunch;
  let changes: ChangeTracker;
  try {
    prepared = plan.agent === null ? await prepareLaunch(context, plan) : prepareTurn(context, plan.agent);
    changes = await trackChanges(plan.workdir, context.ports.data);
  } catch (error) {
    await plan.agent?.end();
    return recordUnlaunchedAttempt(context, { verdict: 'not_started', reason: getErrorMessage(error) }, plan);
  }
  const { secrets } = prepared;
  const answer = new AnswerCollector(chooseAnswerSource(context.spec, context.spec.contract));
  const reply = plan.reply === null ? null : secrets.maskText(plan.reply);
  const record = new AttemptRecord(context, { sessionId: plan.sessionId, reply, answer });
  try {
    const command = prepared.command.map((word) => secrets.maskText(word));
    const isConversation = prepared.converse !== undefined;
    // Conversation messages are captured, with their time, when they are sent.
    const input = isConversation ? '' : secrets.maskText(prepared.stdin ?? plan.prompt);
    await record.begin({ command, input });
    await recordLeftover(context, record);
    context.findings.startAttempt();
    const version = readVersion(context);
    const canRetry = (context.spec.max_retries ?? 0) > context.progress.retries;
    const canKeepRunning = isConversation && (getRunMode(context) === 'interactive' || canRetry);
    const needsNextTurn = async (): Promise<boolean> => isNextTurnNeeded(context, canRetry, record, answer);
    const run = await captureProcess(context, plan, prepared, record, canKeepRunning ? needsNextTurn : undefined);
    if (!('end' in run)) return await endUnlaunchedAttempt(record, run);
    const { fsDiff, warnings } = await changes.findChanges();
    for (const warning of warnings) context.warnings.set(warning.code, warning);
    const drained = record.drain(run.end);
    context.progress.sessionId = drained.sessionId ?? context.progress.sessionId;
    context.progress.text = answer.lastText.text ?? context.progress.text;
    const { stop } = context.control;
    const { unansweredPermissions } = run;
    const isJudged = stop === null && unansweredPermissions.length === 0 && !isAsking(getRunMode(context), drained);
    const judged = isJudged
      ? await judgeOutput(answer.text, context.spec.contract, context.schema, answer.comment)
      : null;
    const { placementFailure } = run;
    const engineFailure = placementFailure === undefined ? context.findings.engineFailure : null;
    const decision = decideVerdict({
      stop,
      judged,
      drained,
      end: run.end,
      canRetry,
      engineFailure,
      isHeld: unansweredPermissions.length > 0,
      placementFailure,
    });
    const reasons = [decision.reason, stop === null ? run.sandboxProblem : undefined];
    const reason = reasons.filter((each) => each !== undefined).join(' ');
    const { sandbox } = context.progress;
    const ended = await record.end({
      ...run.end,
      ...decision,
      ...(reason === '' ? {} : { reason }),
      fsDiff,
      pid: run.pid,
      version: await version,
      sandbox,
    });
    context.progress.captured.push(...record.captured);
    return {
      last: ended.last,
      judged,
      warnings: [...listConflicts(ended.events), ...listAnswerWarnings(answer, context.progress.attempts)],
      unansweredPermissions: stop === null ? unansweredPermissions : [],
      unusedAnswers: run.unusedAnswers,
      agent: run.agent,
      engineFailure:
        stop === null && hasSucceeded(run.end, drained) ? null : (engineFailure ?? explainRuntimeError(drained)),
      process: { exit_code: run.end.exitCode, signal: run.end.signal, command, version: (await version) ?? null },
    };
  } finally {
    await record.close();
  }
}

/** Prepares a running process's next turn, which needs only the secrets to mask. */
function prepareTurn({ ports }: RunContext, { command, env }: LiveAgent): PreparedLaunch {
  const secrets = createAttemptSecrets(env, ports.secretPatterns);
  return {
    command,
    env,
    trustedArguments: [],
    requestedFiles: [],
    stdin: undefined,
    converse: { prompt: '' },
    secrets,
  };
}

/** Whether the run continues in the same process: the agent asked a question, or its output is retried. */
async function isNextTurnNeeded(
  context: RunContext,
  canRetry: boolean,
  record: AttemptRecord,
  answer: AnswerCollector,
): Promise<boolean> {
  const state = record.peek();
  if (context.control.stop !== null) return false;
  if (isAsking(getRunMode(context), state)) return true;
  if (!canRetry || !hasSucceeded({ exitCode: null, signal: null }, state)) return false;
  const judged = await judgeOutput(answer.text, context.spec.contract, context.schema, answer.comment);
  return judged.verdict === 'comment' || (judged.verdict === 'not_validated' && judged.error !== undefined);
}

/** Records a process's output between two attempts, so no byte is lost. */
async function recordLeftover({ progress }: RunContext, record: AttemptRecord): Promise<void> {
  const { leftover } = progress;
  progress.leftover = [];
  if (leftover.length === 0) return;
  const ms = record.now();
  await record.write(leftover.map(({ stream, bytes }) => ({ stream, bytes, ms })));
}

/** Describes an error that ended the run but was not reported as a diagnostic. */
function explainRuntimeError({ runtimeError: message }: DrainResult): EngineFailure | null {
  if (message === null) return null;
  return { cause: findCause({ code: 'ENGINE_ERROR', message }), message, httpStatus: undefined };
}

function listAnswerWarnings(answer: AnswerCollector, attempt: number): RunWarning[] {
  const warnings: RunWarning[] = [];
  const { text = '', omitted } = answer.lastText;
  if (omitted > 0) {
    const message = `"text" contains only the last ${text.length} characters of the output; the first ${omitted} were omitted. The full output is in .audit/stdout.${attempt}.log.`;
    warnings.push({ code: 'TEXT_SHORTENED', message });
  }
  if (!answer.isUtf8) {
    const message = `The answer contains bytes that are not UTF-8; they appear as U+FFFD. The original bytes are in .audit/stdout.${attempt}.log.`;
    warnings.push({ code: 'INVALID_UTF8', message });
  }
  return warnings;
}

/** Records an attempt without a process, because it could not be launched or the run was stopped earlier. */
export async function recordUnlaunchedAttempt(
  context: RunContext,
  end: LaunchRefusal,
  { sessionId, reply }: Pick<AttemptPlan, 'sessionId' | 'reply'> = {
    sessionId: context.progress.sessionId,
    reply: null,
  },
): Promise<AttemptOutcome> {
  const record = new AttemptRecord(context, { sessionId, reply, answer: new AnswerCollector('messages') });
  await record.begin(context.progress.leftover.length === 0 ? {} : { input: '' });
  await recordLeftover(context, record);
  return endUnlaunchedAttempt(record, end);
}

async function endUnlaunchedAttempt(record: AttemptRecord, end: LaunchRefusal): Promise<AttemptOutcome> {
  const { last } = await record.end({ exitCode: null, signal: null, ...end });
  const nothing = { judged: null, warnings: [], unansweredPermissions: [], unusedAnswers: [] };
  return { last, ...nothing, engineFailure: null, agent: null };
}

/** Determines the agent's version while it is working, so the run does not wait for it. */
async function readVersion(context: RunContext): Promise<string | undefined> {
  const { launcher } = context;
  if (isInContainer(context)) return undefined;
  const command = getProgramCommand(context, launcher.program);
  // The environment lacks the run's marker: this process does not belong to the run and must not be stopped with it.
  const version = await findEngineVersion(launcher, command, selectAgentEnvironment(context)).catch(() => undefined);
  if (version !== undefined && !isVersionIn(version, launcher.testedVersions)) {
    const tested = launcher.testedVersions === '' ? 'no version was tested' : `tested with ${launcher.testedVersions}`;
    const message = `${launcher.engine} ${version} is an untested version (${tested}). Check the first results closely.`;
    warn(context, { code: 'UNPROVEN_VERSION', message });
  }
  return version;
}

/** Lists warnings about missing or contradicting evidence, so a doubtful success is not mistaken for a clean one. */
function listConflicts(events: readonly Emitted[]): AttemptOutcome['warnings'] {
  return events.flatMap(({ protocol, event }) => {
    if (protocol !== 'fcmp' || event.type !== 'diagnostic.warning') return [];
    const { code, message } = event.data;
    return code === 'TERMINAL_STATUS_COMPLETION_CONFLICT' || code === 'DONE_MARKER_MISSING' ? [{ code, message }] : [];
  });
}
