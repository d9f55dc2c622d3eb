import { createOutputQueue } from './output-queue.js';
import type { OutputChunk, OutputQueue } from './output-queue.js';
import type { ProcessIdentity } from './process-identity.js';
import { spawnProcess } from './spawn-process.js';
import type { ProcessCommand, ProcessEnd, ProcessInput, SpawnedProcess } from './spawn-process.js';
import { endGroup, endSandbox, waitUntilGone, isGroupAlive } from './process-group.js';
import { canSignal } from './process-identity.js';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** A launched process, the leader of its own process group. */
export interface RunningProcess {
  readonly identity: ProcessIdentity;
  /** Only for processes launched with `keepInput`. */
  readonly input: ProcessInput;
  /**
   * The output, for a single reader; if it is not read, the process has to wait. It ends soon after the process, even if another
   * process still has it open.
   */
  readonly output: AsyncIterable<OutputChunk>;
  /** Resolves as soon as the process itself has ended. */
  readonly ended: Promise<ProcessEnd>;
  /** Ends the process group; resolves when all its processes have ended. Does nothing if they already have. */
  stop(): Promise<void>;
}

/** Options for ending a process. */
export interface ProcessOptions {
  /** The time from SIGTERM to SIGKILL. */
  readonly graceMs?: number;
  /** How long leftover processes must print nothing after the process has ended, before its output counts as complete. */
  readonly quietMs?: number;
  /** How long leftover processes may continue to print after the process has ended. */
  readonly drainMs?: number;
}

const GRACE_MS = 5000;
const QUIET_MS = 100;
const DRAIN_MS = 1000;
/** The time the rest of a group has to exit after its leader, before remaining processes are searched for. */
const GROUP_EXIT_MS = 5;
/** Leftover processes get less time after their leader has ended. */
const LEFTOVER_GRACE_MS = 500;

/**
 * Launches a program as the leader of its own process group. It has ended when it exits, even if another process still
 * has its pipes open: their content is read, then the rest of the group is ended and the output is closed.
 *
 * @example
 * const running = await launchProcess({ command: ['codex', 'exec', prompt], cwd, env });
 * for await (const { stream, bytes } of running.output) await capture.write(stream, bytes);
 * const { exitCode } = await running.ended;
 */
export async function launchProcess(command: ProcessCommand, options: ProcessOptions = {}): Promise<RunningProcess> {
  const { graceMs = GRACE_MS, quietMs = QUIET_MS, drainMs = DRAIN_MS } = options;
  const holder: { launched?: SpawnedProcess } = {};
  const queue = createOutputQueue((isFlowing) => holder.launched?.flow(isFlowing));
  const launched = await spawnProcess(command, queue);
  holder.launched = launched;
  // A burst may have filled the queue before backpressure was possible.
  if (queue.isFull) launched.flow(false);
  const { exited, identity } = launched;
  const { pid } = identity;
  /** Once the group is empty, its id may be reused, so no signal is sent any more. */
  let isGroupGone = false;
  let stopping: Promise<void> | undefined;
  let groupCheck: Promise<void> | undefined;

  /**
   * Checks whether the group still has processes. It waits a moment first, since they usually exit shortly after the leader, and
   * listing all processes of the machine takes longer than that.
   */
  async function checkGroup(): Promise<void> {
    await waitUntilGone(() => !canSignal(-pid), GROUP_EXIT_MS);
    isGroupGone = !(await isGroupAlive(pid));
  }
  const checked = exited.then(async () => (groupCheck = checkGroup()));

  async function finish(): Promise<void> {
    await checked;
    await drainOutput(queue, { quietMs, drainMs });
    try {
      if (!isGroupGone) await endAll(Math.min(graceMs, LEFTOVER_GRACE_MS));
      isGroupGone = true;
      // Reads the last output of leftover processes; a process that left the group may keep the pipe open forever.
      await drainOutput(queue, { quietMs, drainMs });
    } finally {
      launched.close();
    }
  }

  async function stop(): Promise<void> {
    await groupCheck;
    if (isGroupGone) return;
    await endAll(graceMs);
  }

  async function endAll(milliseconds: number): Promise<void> {
    if (command.sandbox === undefined) await endGroup(pid, milliseconds);
    else await endSandbox(pid, milliseconds);
  }

  // A leftover process that cannot be ended is reported by `stop`.
  finish().catch(() => undefined);
  return {
    identity,
    input: launched.input,
    output: queue.output,
    ended: exited,
    async stop() {
      stopping ??= stop();
      await stopping;
    },
  };
}

/** The interval for checking whether the output of an ended process is silent. */
const TICK_MS = 20;

/**
 * Waits until the output is closed, silent for a while, or the time is up. Time counts only while the reader keeps up: bytes that
 * wait to be read are never dropped.
 */
async function drainOutput(
  queue: OutputQueue,
  { quietMs, drainMs }: { readonly quietMs: number; readonly drainMs: number },
): Promise<void> {
  let spent = 0;
  let quiet = 0;
  while (!queue.isEnded && quiet < quietMs && spent < drainMs) {
    const { arrivals, isFull } = queue;
    await Promise.race([sleep(TICK_MS), queue.ended]);
    // After a busy loop a timer fires before bytes that arrived earlier.
    await nextTurn();
    if (isFull || queue.isFull) continue;
    spent += TICK_MS;
    quiet = queue.arrivals === arrivals ? quiet + TICK_MS : 0;
  }
}
