import { createOutputQueue } from './output-queue.js';
import type { OutputChunk, OutputQueue } from './output-queue.js';
import type { ProcessIdentity } from './process-identity.js';
import { spawnProcess } from './spawn-process.js';
import type { ProcessCommand, ProcessEnd, SpawnedProcess } from './spawn-process.js';
import { endGroup, isGroupAlive } from './process-group.js';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** A process that was started, the leader of a group of its own. */
export interface RunningProcess {
  readonly identity: ProcessIdentity;
  /** For one reader; the process waits while nobody pulls. Ends soon after the process, whoever else holds its output. */
  readonly output: AsyncIterable<OutputChunk>;
  /** Known as soon as the process itself has ended. */
  readonly ended: Promise<ProcessEnd>;
  /** Ends the whole group; resolves when nothing of it is left. Harmless when it is gone. */
  stop(): Promise<void>;
}

/** How a process is brought to its end. */
export interface ProcessOptions {
  /** From TERM to KILL. */
  readonly graceMs?: number;
  /** After the process has ended: how long what it left behind must be silent before its output is taken as whole. */
  readonly quietMs?: number;
  /** After the process has ended: how long what it left behind may go on printing. */
  readonly drainMs?: number;
}

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

/** How often the silence of an ended process is looked at. */
const TICK_MS = 20;

/**
 * Reads on until the output is closed, silent for a while, or has had its time. Time counts only while the reader keeps
 * up: bytes that wait for it are never given up.
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
    // After a busy loop a timer comes before the bytes that were there first.
    await nextTurn();
    if (isFull || queue.isFull) continue;
    spent += TICK_MS;
    quiet = queue.arrivals === arrivals ? quiet + TICK_MS : 0;
  }
}
