import type { OutputQueue } from './output-queue.js';
import { canSignal } from './process-identity.js';
import { spawnProcess, type ProcessCommand } from './spawn-process.js';
import { terminateGroup, terminateSandbox, waitUntilGone, isGroupAlive } from './process-group.js';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** A launched process, the leader of its own process group. */
export type RunningProcess = Awaited<ReturnType<typeof launchProcess>>;

export interface ProcessOptions {
  /** The time from SIGTERM to SIGKILL. */
  readonly graceMs?: number;
  /** How long leftover processes may continue to print after the process has exited. */
  readonly drainMs?: number;
}

const GRACE_MS = 5000;
/** How long leftover processes must be silent after the process has exited before its output counts as complete. */
const QUIET_MS = 100;
const DRAIN_MS = 1000;
/** The time the rest of a group has to exit after its leader, before scanning for remaining processes. */
const GROUP_EXIT_MS = 5;
/** The time an engine's client has to exit after its container. */
const CLIENT_EXIT_MS = 5000;
/** Leftover processes get less time after their leader has exited. */
const LEFTOVER_GRACE_MS = 500;

/**
 * Launches a process as the leader of its own process group. Its exit counts as the end even if another process still
 * has its pipes open: they are drained, then the rest of the group is terminated and the output is closed.
 */
export async function launchProcess(command: ProcessCommand, options: ProcessOptions = {}) {
  const { graceMs = GRACE_MS, drainMs = DRAIN_MS } = options;
  const launched = await spawnProcess(command);
  const { exited, identity, output: queue } = launched;
  const { pid } = identity;
  /** Once the group is empty, its id can be reused, so no more signals are sent. */
  let isGroupGone = false;
  let stopping: Promise<void> | undefined;
  let groupCheck: Promise<void> | undefined;

  /** Checks whether the group still has processes, after a short wait: they usually exit right after the leader. */
  async function checkGroup(): Promise<void> {
    await waitUntilGone(() => !canSignal(-pid), GROUP_EXIT_MS);
    isGroupGone = !(await isGroupAlive(pid));
  }
  const groupChecked = exited.then(async () => (groupCheck = checkGroup()));

  /** Without processes in the group, a terminal has no more output than it has already received. */
  const isSilent = (): boolean => isGroupGone && launched.hasOnlyTerminal;

  async function finish(): Promise<void> {
    await groupChecked;
    await drainOutput(queue, drainMs, isSilent);
    try {
      if (!isGroupGone) await terminateAll(Math.min(graceMs, LEFTOVER_GRACE_MS));
      isGroupGone = true;
      // Reads the last output of leftover processes; a process that left the group could keep the pipe open forever.
      await drainOutput(queue, drainMs, isSilent);
    } finally {
      launched.close();
    }
  }

  async function stop(): Promise<void> {
    await groupCheck;
    if (isGroupGone) return;
    await terminateAll(graceMs);
  }

  async function terminateAll(milliseconds: number): Promise<void> {
    const { sandbox } = command;
    if (sandbox?.container !== undefined) {
      try {
        await sandbox.container.terminate(milliseconds);
        // The engine's client still has to report the exit code and the last output.
        await waitUntilGone(async () => !(await isGroupAlive(pid)), CLIENT_EXIT_MS);
      } finally {
        await terminateGroup(pid, milliseconds);
      }
    } else if (sandbox === undefined) await terminateGroup(pid, milliseconds);
    else await terminateSandbox(pid, milliseconds);
  }

  // A leftover process that cannot be terminated is reported by `stop`.
  finish().catch(() => undefined);
  return {
    identity,
    input: launched.input,
    /** Unread output makes the process wait. It ends soon after the process exits. */
    output: queue,
    /** Resolves as soon as the process itself has exited. */
    exited,
    /** Terminates the process group; resolves when all its processes have exited. Does nothing if they already have. */
    async stop(): Promise<void> {
      stopping ??= stop();
      await stopping;
    },
  };
}

/** The interval for checking whether an exited process's output is silent. */
const TICK_MS = 20;

/**
 * Waits until the output is closed, has been silent for some time (a tick if `isSilent`), or the time is up. Time counts
 * only while the reader keeps up: bytes waiting to be read are never dropped.
 */
async function drainOutput(queue: OutputQueue, drainMs: number, isSilent: () => boolean): Promise<void> {
  let elapsedMs = 0;
  let silentMs = 0;
  while (!queue.isEnded && silentMs < (isSilent() ? TICK_MS : QUIET_MS) && elapsedMs < drainMs) {
    const { arrivals, isFull } = queue;
    await Promise.race([sleep(TICK_MS), queue.ended]);
    // After a busy loop a timer fires before bytes that arrived earlier.
    await nextTurn();
    if (isFull || queue.isFull) continue;
    elapsedMs += TICK_MS;
    silentMs = queue.arrivals === arrivals ? silentMs + TICK_MS : 0;
  }
}
