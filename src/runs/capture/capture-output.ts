import type { CapturedChunk } from '../run-folder/index.js';
import type { StreamName } from '../../events/index.js';
import type { Stop } from '../attempts/run-control.js';
import type { ResolvedLimits } from '../spec/check-run-spec.js';
import type { OutputQueue } from '../process/output-queue.js';

export interface CaptureOptions {
  readonly output: Pick<OutputQueue, 'read' | 'abandon'>;
  readonly limiter: OutputLimiter;
  /** Masks secrets without changing the length; can hold back bytes that might be the start of a secret. */
  mask(stream: StreamName, bytes: Uint8Array): Uint8Array;
  endMask(): readonly { readonly stream: StreamName; readonly bytes: Uint8Array }[];
  /** Milliseconds since the attempt started. */
  now(): number;
  store(chunks: readonly CapturedChunk[]): Promise<void>;
  stop(stop: Stop): void;
  /** Stops the process because its output cannot be stored. */
  abandon(): void;
  readonly idleMs: number;
  readonly isContinued?: boolean;
  /** For a two-way agent. */
  readonly conversation?: CapturedConversation;
}

/** A captured process's conversation. Input to the agent is stored before it is sent. */
export interface CapturedConversation {
  /** Called once per turn with a function that stores `bytes`, then calls `deliver` to send them. */
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
  const writer = new BatchWriter(options);
  const { conversation } = options;
  const idle = watchIdleness(options);
  const add = (stream: StreamName, bytes: Uint8Array): void => {
    if (bytes.length > 0) writer.add({ stream, bytes, ms: options.now() });
  };
  if (options.isContinued !== true)
    conversation?.start((bytes, deliver) => writer.add({ stream: 'stdin', bytes, ms: options.now() }, deliver));
  try {
    idle.startWaiting();
    for (let next = await options.output.read(); next !== null; next = await options.output.read()) {
      const { stream, bytes } = next;
      idle.stopWaiting();
      const { kept, stop } = options.limiter.limit(stream, bytes);
      add(stream, options.mask(stream, kept));
      if (stream === 'stdout') conversation?.receive(kept);
      if (stop !== null) {
        options.stop(stop);
        options.output.abandon();
        break;
      }
      await writer.waitForSpace();
      idle.startWaiting();
    }
  } catch (error) {
    options.output.abandon();
    throw error;
  } finally {
    idle.end();
  }
  for (const { stream, bytes } of options.endMask()) add(stream, bytes);
  await writer.finish();
}

/** Writes one batch at a time while collecting the next. */
class BatchWriter {
  readonly #options: Pick<CaptureOptions, 'store' | 'abandon'>;
  #waiting: CapturedChunk[] = [];
  /** Callbacks to run once the pending chunks are stored. */
  #callbacks: (() => void)[] = [];
  #bytes = 0;
  #writing: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(options: Pick<CaptureOptions, 'store' | 'abandon'>) {
    this.#options = options;
  }

  add(chunk: CapturedChunk, onStored?: () => void): void {
    this.#waiting.push(chunk);
    if (onStored !== undefined) this.#callbacks.push(onStored);
    this.#bytes += chunk.bytes.length;
    if (this.#writing === null) this.#write();
  }

  /** Resolves when more output can be added. */
  async waitForSpace(): Promise<void> {
    while (this.#bytes > MAX_WAITING_BYTES && this.#writing !== null) await this.#writing;
  }

  /** Resolves when everything is stored; throws the error if that failed. */
  async finish(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    if (this.#failure !== null) throw this.#failure.error;
  }

  #write(): void {
    const chunks = this.#waiting;
    const callbacks = this.#callbacks;
    this.#waiting = [];
    this.#callbacks = [];
    this.#bytes = 0;
    if (this.#failure !== null) return;
    this.#writing = this.#store(chunks).finally(() => {
      this.#writing = null;
      if (this.#failure === null) for (const callback of callbacks) callback();
      if (this.#waiting.length > 0) this.#write();
    });
  }

  async #store(chunks: readonly CapturedChunk[]): Promise<void> {
    try {
      await this.#options.store(chunks);
    } catch (error) {
      this.#failure = { error };
      this.#options.abandon();
    }
  }
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
