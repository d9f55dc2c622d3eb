import { join } from 'node:path';
import type { CapturedChunk } from '../../run-folder/index.js';
import { isRasp } from '../../events/index.js';
import type { Emitted, Verdict } from '../../events/index.js';
import { getErrorMessage } from '../../base/index.js';
import type { AttemptRecord } from '../capture/attempt-record.js';
import { captureOutput, OutputGauge } from '../capture/capture-output.js';
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

/** Launches the process and captures it to its end, or says why it was not launched. */
export async function captureProcess(
  context: RunContext,
  workdir: string,
  prepared: PreparedLaunch,
  record: AttemptRecord,
): Promise<Unstarted | { readonly end: ProcessEnd; readonly pid: number }> {
  const { control, ports, runDir, spec } = context;
  if (control.stop !== null) return explainStop(control.stop);
  const note = await recordProcess(join(ports.data, 'processes'), runDir);
  let running: RunningProcess;
  try {
    const { command, env, stdin } = prepared;
    const input = stdin === undefined ? {} : { stdin };
    running = await launchProcess({ command, cwd: workdir, env, ...input, terminal: spec.terminal ?? false });
  } catch (error) {
    await note.forget();
    return { verdict: 'not_started', reason: prepared.secrets.maskText(getErrorMessage(error)) };
  }
  try {
    await note.started(running.identity);
    await captureAll(context, prepared, record, running);
    return { end: await running.ended, pid: running.identity.pid };
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

/** Captures everything the process prints; a stop ends its group. */
async function captureAll(
  context: RunContext,
  { secrets }: PreparedLaunch,
  record: AttemptRecord,
  running: RunningProcess,
): Promise<void> {
  const { control, limits, progress } = context;
  const gauge = new OutputGauge(limits, progress.printed);
  const end = (): void => void running.stop().catch(() => undefined);
  const unsubscribe = control.onStop(end);
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
