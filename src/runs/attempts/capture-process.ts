import type { CapturedChunk } from '../../run-folder/index.js';
import { isRasp } from '../../events/index.js';
import type { Emitted, Verdict } from '../../events/index.js';
import { getErrorMessage } from '../../base/index.js';
import type { AttemptRecord } from '../capture/attempt-record.js';
import { captureOutput, OutputGauge } from '../capture/capture-output.js';
import type { RememberedAnswer } from '../conversation/conversation.js';
import type { PermissionQuestion } from '../conversation/approvals.js';
import type { PreparedLaunch } from '../launch/prepare-launch.js';
import type { ProcessEnd } from '../process/spawn-process.js';
import { launchAgent } from './live-agent.js';
import type { LiveAgent } from './live-agent.js';
import type { RunContext } from './run-context.js';
import { explainStop } from './run-control.js';
import { SandboxError } from '../../sandbox/index.js';

/** Why there is no process. */
export interface Unstarted {
  readonly verdict: Verdict;
  readonly reason: string;
}

/** The part of an attempt's plan that its process needs. */
interface ProcessPlan {
  readonly workdir: string;
  readonly prompt: string;
  readonly sessionId: string | null;
  readonly remembered: readonly RememberedAnswer[];
  /** The process of the attempt before, if it was kept. */
  readonly agent: LiveAgent | null;
}

/** The exit of a process, or that it was kept. */
interface CapturedEnd {
  readonly end: ProcessEnd;
  readonly pid: number;
  /** Questions for whose answers it was not kept. */
  readonly released: readonly PermissionQuestion[];
  /** The process, where it was kept for another turn. */
  readonly agent: LiveAgent | null;
}

const NOT_ENDED: ProcessEnd = { exitCode: null, signal: null };

/**
 * Launches the process, or continues with the one that was kept, and captures it to its end or to the end of its turn; or
 * returns why it was not launched. `wantsMore` decides after a turn whether the process is kept; without it, it never is.
 */
export async function captureProcess(
  context: RunContext,
  plan: ProcessPlan,
  prepared: PreparedLaunch,
  record: AttemptRecord,
  wantsMore?: () => Promise<boolean>,
): Promise<Unstarted | CapturedEnd> {
  const { control } = context;
  if (control.stop !== null) return explainStop(control.stop);
  let agent: LiveAgent;
  try {
    agent = plan.agent ?? (await launchAgent(context, plan, prepared));
  } catch (error) {
    const verdict = error instanceof SandboxError ? 'no_sandbox' : 'not_started';
    return { verdict, reason: prepared.secrets.maskText(getErrorMessage(error)) };
  }
  const { conversation, running, reader } = agent;
  let isKept = false;
  try {
    reader.resume();
    conversation?.prepareTurn({
      prompt: plan.prompt,
      remembered: plan.remembered,
      mask: (text) => prepared.secrets.maskText(text),
      ...(wantsMore === undefined ? {} : { onEnd: () => reader.pause() }),
    });
    record.observer = conversation;
    await captureAll(context, prepared, record, agent, false);
    if (conversation !== null && reader.isPaused) {
      isKept = (await wantsMore?.()) ?? false;
      if (isKept) return { end: NOT_ENDED, pid: running.identity.pid, released: [], agent };
      conversation.finish();
      reader.resume();
      await captureAll(context, prepared, record, agent, true);
    }
    conversation?.close();
    const end = await running.ended;
    // After a conversation its process is always ended by Sluice.
    const isOurs = conversation !== null && (conversation.isComplete || conversation.released.length > 0);
    return {
      end: isOurs && end.exitCode !== 0 ? NOT_ENDED : end,
      pid: running.identity.pid,
      released: conversation?.released ?? [],
      agent: null,
    };
  } finally {
    record.observer = null;
    if (!isKept) await agent.end();
  }
}

/** Captures what the process prints; a stop ends its group. */
async function captureAll(
  context: RunContext,
  { secrets }: PreparedLaunch,
  record: AttemptRecord,
  { running, reader, conversation }: LiveAgent,
  isContinued: boolean,
): Promise<void> {
  const { control, limits, progress } = context;
  const gauge = new OutputGauge(limits, progress.printed);
  const end = (): void => void running.stop().catch(() => undefined);
  // A conversation ends its process itself, after a word to the agent.
  const unsubscribe = conversation === null ? control.onStop(end) : () => undefined;
  try {
    await captureOutput({
      output: reader,
      gauge,
      mask: (stream, bytes) => secrets.mask(stream, bytes),
      endMask: () => secrets.endMask(),
      now: () => record.now(),
      keep: async (chunks) => keep(context, record, chunks, gauge),
      stop: (stop) => control.requestStop(stop),
      abandon: end,
      idleMs: limits.idle_s * 1000,
      isContinued,
      ...(conversation === null ? {} : { conversation }),
    });
  } finally {
    unsubscribe();
    progress.printed = gauge.bytes;
  }
}

/** Records what was printed, and checks the limits of tokens, cost and room. What was captured is stored whatever the limit. */
async function keep(
  context: RunContext,
  record: AttemptRecord,
  chunks: readonly CapturedChunk[],
  gauge: OutputGauge,
): Promise<void> {
  const { usage, limits, control, progress, journal } = context;
  const events = await record.keep(chunks);
  progress.fcmpSeq = record.fcmpSeq;
  const before = usage.tokens;
  addFindings(context, events);
  if (usage.tokens !== before) spendBudget(context);
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
  } else if (journal.size.events > limits.events) {
    control.requestStop({
      verdict: 'storage_limit',
      reason: `The run has more than limits.events (${limits.events}).`,
      hint: STORAGE_HINT,
    });
  } else if (journal.size.characters + gauge.bytes > limits.stored_bytes) {
    control.requestStop({
      verdict: 'storage_limit',
      reason: `The run stored more than limits.stored_bytes (${limits.stored_bytes} bytes).`,
      hint: STORAGE_HINT,
    });
  }
}

/** Not awaited: the agent continues while the budget is checked. */
function spendBudget({ usage, control, ports }: RunContext): void {
  const { tokens, cost } = usage;
  const spend = async (): Promise<void> => {
    const reason = await ports.budget.spend({ tokens, cost });
    if (reason === undefined) return;
    control.requestStop({ verdict: 'budget', reason, hint: 'Raise the budget, or wait until it resets.' });
  };
  spend().catch((error: unknown) => ports.logger.warn('cannot report what a run uses', { error: String(error) }));
}

const STORAGE_HINT = 'Raise the limit, or let the agent print less. Everything it printed until then is stored.';

/** Adds what the events report: tokens and cost, diagnostics, denied tools, the model. */
export function addFindings(
  { usage, findings }: Pick<RunContext, 'usage' | 'findings'>,
  events: readonly Emitted[],
): void {
  findings.add(events);
  for (const { protocol, event } of events) {
    if (protocol !== 'rasp' || !isRasp(event, 'lifecycle.run.status')) continue;
    if (event.data.usage !== undefined) usage.add(event.data.usage);
  }
}
