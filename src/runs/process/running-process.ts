import type { OutputChunk } from './output-queue.js';
import type { ProcessIdentity } from './process-identity.js';

/** How a process ended: one of the two is null. */
export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

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
