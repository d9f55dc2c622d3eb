import { join } from 'node:path';
import type { CapturedChunk } from '../../run-folder/index.js';
import { isRasp } from '../../events/index.js';
import type { Emitted, Verdict } from '../../events/index.js';
import { getErrorMessage } from '../../base/index.js';
import type { AttemptRecord } from '../capture/attempt-record.js';
import { captureOutput, OutputGauge } from '../capture/capture-output.js';
import { Conversation } from '../conversation/conversation.js';
import type { RememberedAnswer } from '../conversation/conversation.js';
import type { PermissionQuestion } from '../conversation/approvals.js';
import type { PreparedLaunch } from '../launch/prepare-launch.js';
import { endEscapedProcesses } from '../process/end-orphans.js';
import { recordProcess } from '../process/process-record.js';
import type { RunningProcess } from '../process/launch-process.js';
import type { ProcessEnd } from '../process/spawn-process.js';
import { launchProcess } from '../process/launch-process.js';
import type { RunContext } from './run-context.js';
import { explainStop } from './run-control.js';

/** Why there is no process. */
export interface Unstarted {
  readonly verdict: Verdict;
  readonly reason: string;
}

/** What of the plan of an attempt its process needs. */
interface ProcessPlan {
  readonly workdir: string;
  readonly sessionId: string | null;
  readonly remembered: readonly RememberedAnswer[];
}

/** How a process ended. */
interface CapturedEnd {
  readonly end: ProcessEnd;
  readonly pid: number;
  /** Questions for whose answers it was not kept. */
  readonly released: readonly PermissionQuestion[];
}

/** Launches the process and captures it to its end, or says why it was not launched. */
export async function captureProcess(
  context: RunContext,
  plan: ProcessPlan,
  prepared: PreparedLaunch,
  record: AttemptRecord,
): Promise<Unstarted | CapturedEnd> {
  const { control, ports, runDir, spec } = context;
  if (control.stop !== null) return explainStop(control.stop);
  const note = await recordProcess(join(ports.data, 'processes'), runDir);
  let running: RunningProcess;
  try {
    const { command, env, stdin, converse } = prepared;
    const input = converse !== undefined ? { keepInput: true } : stdin === undefined ? {} : { stdin };
    const terminal = spec.terminal ?? false;
    running = await launchProcess({ command, cwd: plan.workdir, env, ...input, terminal });
  } catch (error) {
    await note.forget();
    return { verdict: 'not_started', reason: prepared.secrets.maskText(getErrorMessage(error)) };
  }
  try {
    await note.started(running.identity);
    const conversation = openConversation(context, plan, prepared, running);
    record.observer = conversation;
    await captureAll(context, prepared, record, running, conversation).finally(() => {
      conversation?.close();
      record.observer = null;
    });
    const end = await running.ended;
    // Once a conversation is over its process is ended by us, in one way or another.
    const isOurs = conversation !== null && (conversation.isComplete || conversation.released.length > 0);
    return {
      end: isOurs && end.exitCode !== 0 ? { exitCode: null, signal: null } : end,
      pid: running.identity.pid,
      released: conversation?.released ?? [],
    };
  } finally {
    await running.stop().catch((error: unknown) => {
      ports.logger.warn('cannot end a process of the run', {
        run_id: context.id,
        error: getErrorMessage(error),
      });
    });
    await endEscapedProcesses(runDir);
    await note.forget();
  }
}

function openConversation(
  context: RunContext,
  { workdir, sessionId, remembered }: ProcessPlan,
  { converse, secrets }: PreparedLaunch,
  running: RunningProcess,
): Conversation | null {
  if (converse === undefined) return null;
  const { spec, control, stopwatch, limits, ports, runDir } = context;
  const permissions = spec.permissions ?? 'safe';
  return new Conversation({
    request: {
      ...converse,
      workdir,
      sessionId,
      keepMode: permissions === 'bypass',
      ...(spec.model === undefined ? {} : { model: spec.model }),
    },
    policy: { permissions, rules: [...ports.approvals, ...(spec.approvals ?? [])], workdir, runDir },
    remembered,
    control,
    stopwatch,
    waitMs: limits.wait_s * 1000,
    holdMs: limits.hold_s * 1000,
    onQuestion: ports.onQuestion,
    onUnanswered: ports.onUnanswered,
    mask: (text) => secrets.maskText(text),
    process: {
      write: (bytes) => running.input.write(bytes),
      get waiting() {
        return running.input.waiting;
      },
      closeInput: () => running.input.close(),
      stop: () => void running.stop().catch(() => undefined),
    },
  });
}

/** Captures everything the process prints; a stop ends its group. */
async function captureAll(
  context: RunContext,
  { secrets }: PreparedLaunch,
  record: AttemptRecord,
  running: RunningProcess,
  conversation: Conversation | null,
): Promise<void> {
  const { control, limits, progress } = context;
  const gauge = new OutputGauge(limits, progress.printed);
  const end = (): void => void running.stop().catch(() => undefined);
  // A conversation ends its process itself, after a word to the agent.
  const unsubscribe = conversation === null ? control.onStop(end) : () => undefined;
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
      ...(conversation === null ? {} : { conversation }),
    });
  } finally {
    unsubscribe();
    progress.printed = gauge.bytes;
  }
}

/** Records what was printed, and checks the limits of tokens and cost. */
async function keep(context: RunContext, record: AttemptRecord, chunks: readonly CapturedChunk[]): Promise<void> {
  const { usage, limits, control, progress } = context;
  const events = await record.keep(chunks);
  progress.fcmpSeq = record.fcmpSeq;
  addFindings(context, events);
  if (usage.tokens > limits.tokens) {
    control.requestStop({
      verdict: 'limit',
      reason: `The run used more than limits.tokens (${limits.tokens}).`,
      hint: 'Raise the limit, or ask for less.',
    });
  } else if (usage.cost > limits.cost) {
    control.requestStop({
      verdict: 'limit',
      reason: `The run cost more than limits.cost (${limits.cost} dollars).`,
      hint: 'Raise the limit, or ask for less.',
    });
  }
}

/** Adds what the events report: tokens and cost, diagnostics, denied tools, the model. */
export function addFindings({ usage, findings }: RunContext, events: readonly Emitted[]): void {
  findings.add(events);
  for (const { protocol, event } of events) {
    if (protocol !== 'rasp' || !isRasp(event, 'lifecycle.run.status')) continue;
    if (event.data.usage !== undefined) usage.add(event.data.usage);
  }
}
