import { createOutputQueue } from './output-queue.js';
import type { OutputChunk, OutputQueue } from './output-queue.js';
import type { ProcessIdentity } from './process-identity.js';
import { spawnProcess } from './spawn-process.js';
import type { ProcessCommand, ProcessEnd, ProcessInput, SpawnedProcess } from './spawn-process.js';
import { endGroup, endSandbox, isGoneWithin, isGroupAlive } from './process-group.js';
import { answersToSignals } from './process-identity.js';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** A launched process, the leader of its own process group. */
export interface RunningProcess {
  readonly identity: ProcessIdentity;
  /** Only for processes launched with `keepInput`. */
  readonly input: ProcessInput;
  /**
   * For one reader; the process waits while it does not read. Ends soon after the process, even if another process still
   * holds its output.
   */
  readonly output: AsyncIterable<OutputChunk>;
  /** Known as soon as the process itself has ended. */
  readonly ended: Promise<ProcessEnd>;
  /** Ends the whole group; resolves when nothing of it is left. Does nothing when it is gone. */
  stop(): Promise<void>;
}

/** Options for ending a process. */
export interface ProcessOptions {
  /** From TERM to KILL. */
  readonly graceMs?: number;
  /** After the process has ended: how long what it left behind must be silent before its output is taken as whole. */
  readonly quietMs?: number;
  /** After the process has ended: how long processes it left behind may keep printing. */
  readonly drainMs?: number;
}

const GRACE_MS = 5000;
const QUIET_MS = 100;
const DRAIN_MS = 1000;
/** How long the rest of a group is given to go with its leader before it is looked for. */
const GOING_MS = 5;
/** Leftovers of a program that has ended get less time. */
const LEFTOVER_GRACE_MS = 500;

/**
 * Launches a program as the leader of its own process group. It has ended when it exits, even if another process still
 * holds its pipes: their content is read, then the rest of the group is ended and the output closed.
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
  /** Once the group is empty, its number may be reused: no signal is sent after that. */
  let isGroupGone = false;
  let stopping: Promise<void> | undefined;
  let leaving: Promise<void> | undefined;

  /**
   * Checks whether the group still has processes; they usually end a moment later. Listing all processes of the machine takes longer than that.
   */
  async function lookForGroup(): Promise<void> {
    await isGoneWithin(() => !answersToSignals(-pid), GOING_MS);
    isGroupGone = !(await isGroupAlive(pid));
  }
  const left = exited.then(async () => (leaving = lookForGroup()));

  async function finish(): Promise<void> {
    await left;
    await drainOutput(queue, { quietMs, drainMs });
    try {
      if (!isGroupGone) await endAll(Math.min(graceMs, LEFTOVER_GRACE_MS));
      isGroupGone = true;
      // Last output of the leftovers; a process that left the group may hold the pipe forever.
      await drainOutput(queue, { quietMs, drainMs });
    } finally {
      launched.close();
    }
  }

  async function stop(): Promise<void> {
    await leaving;
    if (isGroupGone) return;
    await endAll(graceMs);
  }

  async function endAll(milliseconds: number): Promise<void> {
    if (command.sandbox === undefined) await endGroup(pid, milliseconds);
    else await endSandbox(pid, milliseconds);
  }

  // A leftover that cannot be ended is reported by `stop`; nothing else waits for it.
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

/** How often the output of an ended process is checked for silence. */
const TICK_MS = 20;

/**
 * Reads on until the output is closed, silent for a while, or out of time. Time counts only while the reader keeps up:
 * bytes that wait for it are never dropped.
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
