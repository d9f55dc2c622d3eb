import { drainOutput } from './drain-output.js';
import { launchProcess } from './launch-process.js';
import type { LaunchedProcess } from './launched-process.js';
import { createOutputQueue } from './output-queue.js';
import type { ProcessCommand } from './process-command.js';
import { endGroup, isGroupAlive } from './process-group.js';
import type { ProcessOptions, RunningProcess } from './running-process.js';

const GRACE_MS = 5000;
const QUIET_MS = 100;
const DRAIN_MS = 1000;
/** What an ended program left behind has had its time: it gets less of it. */
const LEFTOVER_GRACE_MS = 500;

/**
 * Starts a program as the leader of a group of its own. The end is decided by its exit, not by who holds its pipes:
 * what is still in them is read, then what is left of the group is ended and the output is over.
 *
 * @example
 * const running = await startProcess({ command: ['codex', 'exec', prompt], cwd, env });
 * for await (const { stream, bytes } of running.output) await capture.write(stream, bytes);
 * const { exitCode } = await running.ended;
 */
export async function startProcess(command: ProcessCommand, options: ProcessOptions = {}): Promise<RunningProcess> {
  const { graceMs = GRACE_MS, quietMs = QUIET_MS, drainMs = DRAIN_MS } = options;
  const holder: { launched?: LaunchedProcess } = {};
  const queue = createOutputQueue((isFlowing) => holder.launched?.flow(isFlowing));
  const launched = await launchProcess(command, queue);
  holder.launched = launched;
  // A burst may have filled the queue before there was anyone to hold back.
  if (queue.isFull) launched.flow(false);
  const { exited, identity } = launched;
  const { pid } = identity;
  /** Once nobody of the group is left, its number may become another's: no signal is sent after that. */
  let isGroupGone = false;
  let stopping: Promise<void> | undefined;

  async function finish(): Promise<void> {
    await exited;
    isGroupGone = !(await isGroupAlive(pid));
    await drainOutput(queue, { quietMs, drainMs });
    try {
      if (!isGroupGone) await endGroup(pid, Math.min(graceMs, LEFTOVER_GRACE_MS));
      isGroupGone = true;
      // Last words of the leftovers; somebody who left the group may hold the pipe for ever.
      await drainOutput(queue, { quietMs, drainMs });
    } finally {
      launched.close();
    }
  }

  async function stop(): Promise<void> {
    if (isGroupGone) return;
    await endGroup(pid, graceMs);
  }

  // A leftover that cannot be ended is told to whoever stops the process; nobody else waits for it.
  finish().catch(() => undefined);
  return {
    identity,
    output: queue.output,
    ended: exited,
    async stop() {
      stopping ??= stop();
      await stopping;
    },
  };
}
