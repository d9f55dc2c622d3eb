import type { CapturedChunk } from '../run-folder/index.js';
import type { StreamName } from '../../events/index.js';
import type { Stop } from '../attempts/run-control.js';
import type { ResolvedLimits } from '../spec/check-run-spec.js';
import type { OutputQueue } from '../process/output-queue.js';
import type { AttemptSecrets } from '../secrets/compile-secrets.js';

export interface CaptureOptions {
  readonly output: Pick<OutputQueue, 'read' | 'abandon'>;
  readonly limiter: OutputLimiter;
  readonly secrets: Pick<AttemptSecrets, 'mask' | 'endMask'>;
  /** Milliseconds since the attempt started. */
  now(): number;
  store(chunks: readonly CapturedChunk[]): Promise<void>;
  stop(stop: Stop): void;
  /** Stops the process because its output cannot be stored. */
  abandon(): void;
  readonly idleMs: number;
  /** For a two-way agent. */
  readonly conversation?: CapturedConversation | null;
}

/** A captured process's conversation. Input to the agent is stored before it is sent. */
export interface CapturedConversation {
  /** Called at the start with a function that stores `bytes`, then calls `deliver` to send them. */
  start(send: (bytes: Uint8Array, deliver: () => void) => void): void;
  /** Receives the agent's unmasked stdout. */
  receive(bytes: Uint8Array): void;
  /** Whether the agent is waiting for a user; its idle time then does not count. */
  readonly isWaiting: boolean;
}

/** The maximum number of bytes waiting to be written; beyond it, the process has to wait. */
const MAX_WAITING_BYTES = 256 * 1024;

/**
 * Captures a process's output until it ends or its reader is paused. Output that arrives during a write is written in
 * one batch afterwards, so a busy process causes few writes. If too much is waiting to be written, reading stops and
 * the process has to wait.
 */
export async function captureOutput(options: CaptureOptions): Promise<void> {
  const { output, limiter, secrets, conversation } = options;
  const writer = createBatchWriter(options);
  const idle = watchIdleness(options);
  const add = (stream: StreamName, bytes: Uint8Array): void => {
    if (bytes.length > 0) writer.add({ stream, bytes, ms: options.now() });
  };
  conversation?.start((bytes, onStored) => writer.add({ stream: 'stdin', bytes, ms: options.now(), onStored }));
  try {
    idle.startWaiting();
    for (let next = await output.read(); next !== null; next = await output.read()) {
      const { stream, bytes } = next;
      idle.stopWaiting();
      const { kept, stop } = limiter.limit(stream, bytes);
      add(stream, secrets.mask(stream, kept));
      if (stream === 'stdout') conversation?.receive(kept);
      if (stop !== null) {
        options.stop(stop);
        output.abandon();
        break;
      }
      await writer.waitForSpace();
      idle.startWaiting();
    }
  } catch (error) {
    output.abandon();
    throw error;
  } finally {
    idle.end();
  }
  for (const { stream, bytes } of secrets.endMask()) add(stream, bytes);
  await writer.finish();
}

/** Writes one batch at a time while collecting the next. Nothing is written after a failure, which `finish` throws. */
function createBatchWriter({ store, abandon }: Pick<CaptureOptions, 'store' | 'abandon'>) {
  let waiting: (CapturedChunk & { readonly onStored?: () => void })[] = [];
  let waitingBytes = 0;
  let writing: Promise<void> | null = null;
  let failure: { readonly error: unknown } | null = null;

  async function writeAll(): Promise<void> {
    while (waiting.length > 0 && failure === null) {
      const batch = waiting;
      waiting = [];
      waitingBytes = 0;
      try {
        await store(batch);
        for (const { onStored } of batch) onStored?.();
      } catch (error) {
        failure = { error };
        abandon();
      }
    }
    writing = null;
  }

  return {
    add(chunk: (typeof waiting)[number]): void {
      if (failure !== null) return;
      waiting.push(chunk);
      waitingBytes += chunk.bytes.length;
      writing ??= writeAll();
    },
    async waitForSpace(): Promise<void> {
      if (waitingBytes > MAX_WAITING_BYTES) await writing;
    },
    async finish(): Promise<void> {
      await writing;
      if (failure !== null) throw failure.error;
    },
  };
}

/** Stops a process that prints nothing for too long. Only the time spent waiting for output counts. */
function watchIdleness(options: CaptureOptions) {
  const { idleMs, conversation } = options;
  let waitingSince: number | null = null;
  let timer: NodeJS.Timeout;
  const arm = (ms: number): void => {
    timer = setTimeout(check, ms);
  };
  const check = (): void => {
    if (conversation?.isWaiting === true && waitingSince !== null) waitingSince = performance.now();
    const silentMs = waitingSince === null ? 0 : performance.now() - waitingSince;
    // A timer can fire slightly early.
    if (silentMs < idleMs - 1) return arm(Math.max(1, idleMs - silentMs));
    const reason = `The agent printed nothing for longer than limits.idle_s (${idleMs / 1000} s).`;
    options.stop({ verdict: 'timed_out', reason, hint: 'Raise the limit, or check what the agent is waiting for.' });
  };
  arm(idleMs);
  return {
    startWaiting: () => (waitingSince = performance.now()),
    stopWaiting: () => (waitingSince = null),
    end: () => clearTimeout(timer),
  };
}

const NEWLINE = 0x0a;

/** Checks an attempt's output against the byte and line length limits. */
export class OutputLimiter {
  readonly #limits: ResolvedLimits;
  bytes: number;
  readonly #line: Record<StreamName, number> = { stdout: 0, stderr: 0, pty: 0 };

  /** `before` is the number of bytes printed by earlier attempts of the run. */
  constructor(limits: ResolvedLimits, before: number) {
    this.#limits = limits;
    this.bytes = before;
  }

  /** Returns the part of the bytes that is within the limits, and a stop if a limit was exceeded. */
  limit(stream: StreamName, bytes: Uint8Array): { readonly kept: Uint8Array; readonly stop: Stop | null } {
    const { output_bytes, line_bytes } = this.#limits;
    const allowedByOutput = Math.max(0, output_bytes - this.bytes);
    const allowedByLine = this.#findLineLimit(stream, bytes);
    const length = Math.min(bytes.length, allowedByOutput, allowedByLine);
    this.bytes += length;
    if (length === bytes.length) return { kept: bytes, stop: null };
    const reason =
      length === allowedByOutput
        ? `The agent printed more than limits.output_bytes (${output_bytes} bytes).`
        : `The agent printed a line longer than limits.line_bytes (${line_bytes} bytes).`;
    const hint = 'Raise the limit, or make the agent print less.';
    return { kept: bytes.subarray(0, length), stop: { verdict: 'limit', reason, hint } };
  }

  /** Returns the position where a line becomes too long, or infinity. */
  #findLineLimit(stream: StreamName, bytes: Uint8Array): number {
    const { line_bytes } = this.#limits;
    let start = -this.#line[stream];
    for (;;) {
      const newline = bytes.indexOf(NEWLINE, Math.max(0, start));
      const end = newline === -1 ? bytes.length : newline;
      if (end - start > line_bytes) return start + line_bytes;
      if (newline === -1) break;
      start = newline + 1;
    }
    this.#line[stream] = bytes.length - start;
    return Number.POSITIVE_INFINITY;
  }
}
