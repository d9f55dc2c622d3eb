import type { CapturedChunk } from '../../run-folder/index.js';
import type { StreamName } from '../../events/index.js';
import type { Stop } from '../attempts/run-control.js';
import type { DecidedLimits } from '../spec/run-limits.js';
import type { OutputReader } from './output-reader.js';

/** Options for capturing the output of a process. */
export interface CaptureOptions {
  readonly output: OutputReader;
  readonly gauge: OutputGauge;
  /** Masks secrets at equal length; may hold back what could still become one. */
  mask(stream: StreamName, bytes: Uint8Array): Uint8Array;
  /** Returns the bytes that were held back. */
  endMask(): readonly { readonly stream: StreamName; readonly bytes: Uint8Array }[];
  /** Milliseconds since the attempt began. */
  now(): number;
  keep(chunks: readonly CapturedChunk[]): Promise<void>;
  stop(stop: Stop): void;
  /** Ends the process because its output cannot be stored. */
  abandon(): void;
  readonly idleMs: number;
  /** Whether this continues a turn that was paused. */
  readonly isContinued?: boolean;
  /** For a two-way agent. */
  readonly conversation?: CapturedConversation;
}

/** Takes part in what is captured: what is sent to the agent is stored before it is sent. */
export interface CapturedConversation {
  /** Called once a turn, with the way to send: `bytes` are what is stored, `deliver` sends. */
  start(send: (bytes: Uint8Array, deliver: () => void) => void): void;
  /** Receives stdout of the agent, not masked. */
  receive(bytes: Uint8Array): void;
  /** Whether the agent waits for a person: then its silence does not count. */
  readonly isWaiting: boolean;
}

/** Bytes that may wait while the files are written; beyond that the process waits too. */
const MAX_WAITING_BYTES = 256 * 1024;

/**
 * Captures what a process prints, to its end or until its reader is paused. What arrives while the files are written is written together afterwards, so a busy
 * process costs few writes; when too much waits, nothing is read, and the process has to wait.
 */
export async function captureOutput(options: CaptureOptions): Promise<void> {
  const keeper = new BatchWriter(options);
  const { conversation } = options;
  const isHeld = (): boolean => conversation?.isWaiting === true;
  const idle = watchIdleness({ idleMs: options.idleMs, isHeld, stop: (stop) => options.stop(stop) });
  const add = (stream: StreamName, bytes: Uint8Array): void => {
    if (bytes.length > 0) keeper.add({ stream, bytes, ms: options.now() });
  };
  if (options.isContinued !== true)
    conversation?.start((bytes, deliver) => keeper.add({ stream: 'stdin', bytes, ms: options.now() }, deliver));
  try {
    idle.waits();
    for (let next = await options.output.next(); next !== null; next = await options.output.next()) {
      const { stream, bytes } = next;
      idle.rests();
      const { kept, stop } = options.gauge.measure(stream, bytes);
      add(stream, options.mask(stream, kept));
      if (stream === 'stdout') conversation?.receive(kept);
      if (stop !== null) {
        options.stop(stop);
        options.output.abandon();
        break;
      }
      await keeper.room();
      idle.waits();
    }
  } catch (error) {
    options.output.abandon();
    throw error;
  } finally {
    idle.end();
  }
  for (const { stream, bytes } of options.endMask()) add(stream, bytes);
  await keeper.done();
}

/** Writes one batch at a time; the next one gathers meanwhile. */
class BatchWriter {
  readonly #options: Pick<CaptureOptions, 'keep' | 'abandon'>;
  #waiting: CapturedChunk[] = [];
  /** Callbacks to run once the pending chunks are stored. */
  #afterwards: (() => void)[] = [];
  #bytes = 0;
  #writing: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(options: Pick<CaptureOptions, 'keep' | 'abandon'>) {
    this.#options = options;
  }

  add(chunk: CapturedChunk, afterwards?: () => void): void {
    this.#waiting.push(chunk);
    if (afterwards !== undefined) this.#afterwards.push(afterwards);
    this.#bytes += chunk.bytes.length;
    if (this.#writing === null) this.#write();
  }

  /** Resolves when there is room for more. */
  async room(): Promise<void> {
    while (this.#bytes > MAX_WAITING_BYTES && this.#writing !== null) await this.#writing;
  }

  /** Resolves when everything is stored; throws what made that impossible. */
  async done(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    if (this.#failure !== null) throw this.#failure.error;
  }

  #write(): void {
    const chunks = this.#waiting;
    const afterwards = this.#afterwards;
    this.#waiting = [];
    this.#afterwards = [];
    this.#bytes = 0;
    if (this.#failure !== null) return;
    this.#writing = this.#keep(chunks).finally(() => {
      this.#writing = null;
      if (this.#failure === null) for (const act of afterwards) act();
      if (this.#waiting.length > 0) this.#write();
    });
  }

  async #keep(chunks: readonly CapturedChunk[]): Promise<void> {
    try {
      await this.#options.keep(chunks);
    } catch (error) {
      this.#failure = { error };
      this.#options.abandon();
    }
  }
}

interface IdleOptions {
  readonly idleMs: number;
  /** Whether silence does not count now. */
  readonly isHeld: () => boolean;
  readonly stop: (stop: Stop) => void;
}

/** Stops a process that prints nothing for too long. Only time in which output was awaited counts. */
function watchIdleness({ idleMs, isHeld, stop }: IdleOptions) {
  let waitingSince: number | null = null;
  let timer: NodeJS.Timeout;
  const arm = (ms: number): void => {
    timer = setTimeout(look, ms);
  };
  const look = (): void => {
    if (isHeld() && waitingSince !== null) waitingSince = performance.now();
    const silent = waitingSince === null ? 0 : performance.now() - waitingSince;
    // A timer may come a moment early.
    if (silent < idleMs - 1) return arm(Math.max(1, idleMs - silent));
    const reason = `The agent printed nothing for longer than limits.idle_s (${idleMs / 1000} s).`;
    stop({ verdict: 'timed_out', reason, hint: 'Raise the limit, or check what it is waiting for.' });
  };
  arm(idleMs);
  return {
    waits: () => (waitingSince = performance.now()),
    rests: () => (waitingSince = null),
    end: () => clearTimeout(timer),
  };
}

const NEWLINE = 0x0a;

/** Measures what an attempt prints against the limits of bytes and of one line. */
export class OutputGauge {
  readonly #limits: DecidedLimits;
  #bytes: number;
  readonly #line: Record<StreamName, number> = { stdout: 0, stderr: 0, pty: 0 };

  /** `before` is what earlier attempts of the run have printed. */
  constructor(limits: DecidedLimits, before: number) {
    this.#limits = limits;
    this.#bytes = before;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The part of the bytes that is within the limits, and which limit cut off the rest. */
  measure(stream: StreamName, bytes: Uint8Array): { readonly kept: Uint8Array; readonly stop: Stop | null } {
    const { output_bytes, line_bytes } = this.#limits;
    const tooMuch = Math.max(0, output_bytes - this.#bytes);
    const tooLong = this.#lineEnd(stream, bytes);
    const length = Math.min(bytes.length, tooMuch, tooLong);
    this.#bytes += length;
    if (length === bytes.length) return { kept: bytes, stop: null };
    const reason =
      length === tooMuch
        ? `The agent printed more than limits.output_bytes (${output_bytes} bytes).`
        : `The agent printed a line longer than limits.line_bytes (${line_bytes} bytes).`;
    const hint = 'Raise the limit, or make it print less.';
    return { kept: bytes.subarray(0, length), stop: { verdict: 'limit', reason, hint } };
  }

  /** Where a line becomes too long; beyond the bytes if none does. */
  #lineEnd(stream: StreamName, bytes: Uint8Array): number {
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
