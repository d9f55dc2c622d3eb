import type { CapturedChunk } from '../run-folder/index.js';
import type { Verdict } from '../../events/index.js';
import { getErrorMessage } from '../../base/index.js';
import type { AttemptRecord } from '../capture/attempt-record.js';
import { captureOutput, OutputLimiter } from '../capture/capture-output.js';
import type { PermissionQuestion, StoredAnswer } from '../conversation/approvals.js';
import type { PreparedLaunch } from '../launch/prepare-launch.js';
import type { ProcessExit } from '../process/spawn-process.js';
import { launchAgent, type LiveAgent } from './live-agent.js';
import type { RunContext } from './run-context.js';
import { explainStop, type Stop } from './run-control.js';
import { PlacementError, SandboxError, type PlacementFailure } from '../sandbox/index.js';

export interface LaunchRefusal {
  readonly verdict: Verdict;
  readonly reason: string;
  readonly cause?: PlacementFailure['cause'];
}

export interface AttemptPlan {
  readonly workdir: string;
  readonly prompt: string;
  /** The session to resume; null starts a new one. */
  readonly sessionId: string | null;
  /** The user's reply that starts this attempt, or null. */
  readonly reply: string | null;
  /** Answers to the previous attempt's questions, which its process exited too early to receive. */
  readonly storedAnswers: readonly StoredAnswer[];
  /** The previous attempt's process, if it is still running; this attempt is then its next turn. */
  readonly agent: LiveAgent | null;
}

/** How a process exited, or the process itself if it keeps running. */
export interface CaptureResult {
  readonly end: ProcessExit;
  readonly pid: number;
  /** Why the process failed, if a file that it needs is not in the sandbox. */
  readonly sandboxProblem?: string;
  /** Why the process ended, if its container failed. */
  readonly placementFailure?: PlacementFailure | undefined;
  readonly unansweredPermissions: readonly PermissionQuestion[];
  /** The stored answers to requests that the agent has not repeated. */
  readonly unusedAnswers: readonly StoredAnswer[];
  /** The process, if it keeps running for another turn. */
  readonly agent: LiveAgent | null;
}

/** A neutral exit, for a process that is still running or whose exit is unrelated to the agent. */
const UNKNOWN_EXIT: ProcessExit = { exitCode: null, signal: null };

/**
 * Launches the process, or reuses the running one, and captures its output until it exits or its turn ends. If it
 * cannot be launched, returns the reason. `needsNextTurn` determines after each turn whether the process keeps running;
 * without it, the process is always stopped.
 */
export async function captureProcess(
  context: RunContext,
  plan: AttemptPlan,
  prepared: PreparedLaunch,
  record: AttemptRecord,
  needsNextTurn?: () => Promise<boolean>,
): Promise<LaunchRefusal | CaptureResult> {
  const { control } = context;
  if (control.stop !== null) return explainStop(control.stop);
  let agent: LiveAgent;
  try {
    agent = plan.agent ?? (await launchAgent(context, plan, prepared));
  } catch (error) {
    const reason = prepared.secrets.maskText(getErrorMessage(error));
    if (error instanceof PlacementError) return { verdict: 'placement_failed', reason, cause: error.cause };
    return { verdict: error instanceof SandboxError ? 'no_sandbox' : 'not_started', reason };
  }
  const { conversation, running } = agent;
  const { output } = running;
  let keepsRunning = false;
  let errors = '';
  const onErrorOutput = (text: string): void => void (errors = (errors + text).slice(-MAX_ERROR_CHARACTERS));
  try {
    output.resume();
    conversation?.prepareTurn({
      prompt: plan.prompt,
      storedAnswers: plan.storedAnswers,
      mask: (text) => prepared.secrets.maskText(text),
      ...(needsNextTurn === undefined ? {} : { onEnd: () => output.pause() }),
    });
    record.observer = conversation;
    await captureAll(context, prepared, record, agent, onErrorOutput);
    if (conversation !== null && output.isPaused) {
      keepsRunning = (await needsNextTurn?.()) ?? false;
      const { unusedAnswers } = conversation;
      if (keepsRunning)
        return { end: UNKNOWN_EXIT, pid: running.identity.pid, unansweredPermissions: [], unusedAnswers, agent };
      conversation.finish();
      output.resume();
      await captureAll(context, prepared, record, agent, onErrorOutput);
    }
    conversation?.close();
    const end = await running.exited;
    // Sluice stops the process after a conversation, so a signal or non-zero exit code here is expected.
    const wasStoppedBySluice =
      conversation !== null && (conversation.isComplete || conversation.unansweredPermissions.length > 0);
    return {
      end: wasStoppedBySluice && end.exitCode !== 0 ? UNKNOWN_EXIT : end,
      pid: running.identity.pid,
      unansweredPermissions: conversation?.unansweredPermissions ?? [],
      unusedAnswers: conversation?.unusedAnswers ?? [],
      ...(end.exitCode === 0 || control.stop !== null
        ? {}
        : await explainExit(context, agent, errors, { signal: end.signal, wasStoppedBySluice })),
      agent: null,
    };
  } finally {
    record.observer = null;
    if (!keepsRunning) await agent.end();
  }
}

/** Enough for the message and the stack of an error. */
const MAX_ERROR_CHARACTERS = 16 * 1024;

/** Explains an exit that is not the process's own: of its container, or for a file that is not mounted. */
async function explainExit(
  { ports, spec }: RunContext,
  { sandbox }: LiveAgent,
  errors: string,
  { signal, wasStoppedBySluice }: Pick<ProcessExit, 'signal'> & { readonly wasStoppedBySluice: boolean },
): Promise<Pick<CaptureResult, 'sandboxProblem' | 'placementFailure'>> {
  if (sandbox?.container !== undefined) {
    const placementFailure = wasStoppedBySluice ? undefined : await sandbox.container.explainExit(errors);
    const isKilled = signal === 'SIGKILL' && spec.memory !== undefined && placementFailure === undefined;
    // Not every host reports that the limit was the reason.
    return isKilled
      ? { sandboxProblem: `It might have used more than its memory (${spec.memory}).` }
      : { placementFailure };
  }
  const file = await sandbox?.findMissingFile(errors);
  if (file === undefined) return {};
  const { mountsSetting = 'sandbox.read' } = ports.sandbox;
  return { sandboxProblem: `"${file}" exists, but is not visible in the sandbox. Add it to ${mountsSetting}.` };
}

/** Captures the process's output; a stop request terminates its process group. */
async function captureAll(
  context: RunContext,
  { secrets }: PreparedLaunch,
  record: AttemptRecord,
  { running, conversation }: LiveAgent,
  onErrorOutput: (text: string) => void,
): Promise<void> {
  const { control, limits, progress } = context;
  const limiter = new OutputLimiter(limits, progress.printedBytes);
  const end = (): void => void running.stop().catch(() => undefined);
  // A conversation stops its own process, after notifying the agent.
  const unsubscribe = conversation === null ? control.onStop(end) : () => undefined;
  try {
    await captureOutput({
      output: running.output,
      limiter,
      secrets,
      now: () => record.now(),
      store: async (chunks) => {
        for (const { stream, bytes } of chunks) if (stream !== 'stdout') onErrorOutput(Buffer.from(bytes).toString());
        await recordChunks(context, record, chunks, limiter);
      },
      stop: (stop) => control.requestStop(stop),
      abandon: end,
      idleMs: limits.idle_s * 1000,
      conversation,
    });
  } finally {
    unsubscribe();
    progress.printedBytes = limiter.bytes;
  }
}

/** Records output, and stops the run at its limits; what was captured is stored even then. */
async function recordChunks(
  context: RunContext,
  record: AttemptRecord,
  chunks: readonly CapturedChunk[],
  limiter: OutputLimiter,
): Promise<void> {
  const { usage, findings, limits, control, journal } = context;
  const before = usage.tokens;
  await record.write(chunks);
  if (usage.tokens !== before) spendBudget(context);
  if (findings.isEngineStuck) {
    const reason = 'The engine was stopped: it failed again and again for a reason that a retry does not change.';
    control.requestStop({ verdict: 'engine_failed', reason });
  }
  const stop = (verdict: Stop['verdict'], reason: string, hint: string): void =>
    control.requestStop({ verdict, reason, hint });
  if (usage.tokens > limits.tokens)
    stop('limit', `The run used more than limits.tokens (${limits.tokens}).`, TASK_HINT);
  else if (usage.cost > limits.cost)
    stop('limit', `The run cost more than limits.cost (${limits.cost} dollars).`, TASK_HINT);
  else if (journal.size.events > limits.events)
    stop('storage_limit', `The run has more than limits.events (${limits.events}) events.`, STORAGE_HINT);
  else if (journal.size.characters + limiter.bytes > limits.stored_bytes)
    stop('storage_limit', `The run stored more than limits.stored_bytes (${limits.stored_bytes} bytes).`, STORAGE_HINT);
}

const TASK_HINT = 'Raise the limit, or give the agent a smaller task.';
const STORAGE_HINT = 'Raise the limit, or make the agent print less. Everything it printed until then is stored.';

/** Not awaited: the agent continues while the budget is checked. */
function spendBudget({ usage, control, ports }: RunContext): void {
  const { tokens, cost } = usage;
  const spend = async (): Promise<void> => {
    const reason = await ports.budget.spend({ tokens, cost });
    if (reason === undefined) return;
    control.requestStop({ verdict: 'budget', reason, hint: 'Raise the budget, or wait until it resets.' });
  };
  spend().catch((error: unknown) => ports.logger.warn('cannot report the usage of a run', { error: String(error) }));
}
