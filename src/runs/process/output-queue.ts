import type { StreamName } from '../../events/index.js';

/** Bytes of one stream; chunks of all streams are in order of arrival. */
export interface OutputChunk {
  readonly stream: StreamName;
  readonly bytes: Uint8Array;
}

/** Large enough to keep a reader busy, small enough for hundreds of processes. */
const HIGH_WATER = 256 * 1024;
const LOW_WATER = HIGH_WATER / 2;
/** Adjacent chunks of one stream are merged up to this size, so a slow reader gets larger chunks instead of more. */
const MAX_MERGED_BYTES = 64 * 1024;

/** A process's output, for a single reader, which can pause without losing any of it. */
export class OutputQueue implements AsyncIterable<OutputChunk> {
  readonly #flow: (isFlowing: boolean) => void;
  #queued: OutputChunk[] = [];
  #head = 0;
  #bytes = 0;
  #waiting: ((chunk: OutputChunk | null) => void)[] = [];
  #isPaused = false;
  /** Whether the reader has stopped: later output is dropped, so the process does not wait forever. */
  #isAbandoned = false;
  #settleEnded = (): void => undefined;
  readonly ended: Promise<void>;
  isEnded = false;
  isFull = false;
  arrivals = 0;

  /** `flow` is called when the process has to wait (false) and when it can continue (true). */
  constructor(flow: (isFlowing: boolean) => void) {
    this.#flow = flow;
    this.ended = new Promise((resolve) => {
      this.#settleEnded = resolve;
    });
  }

  push(stream: StreamName, bytes: Uint8Array): void {
    this.arrivals += 1;
    if (this.isEnded || this.#isAbandoned || bytes.length === 0) return;
    const reader = this.#waiting.shift();
    if (reader !== undefined) return reader({ stream, bytes });
    this.#queued.push({ stream, bytes });
    this.#bytes += bytes.length;
    if (!this.isFull && this.#bytes >= HIGH_WATER) this.#setFull(true);
  }

  /** Ends the output; the reader still gets the queued chunks. */
  end(): void {
    this.isEnded = true;
    this.#settleEnded();
    this.#wakeReaders();
  }

  /** Returns the next chunk; null at the end, and while reading is paused. */
  async read(): Promise<OutputChunk | null> {
    if (this.#isPaused) return null;
    const chunk = this.#takeChunk();
    if (chunk !== null || this.isEnded || this.#isAbandoned) return chunk;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** If its loop ends early, the process continues and its output is dropped. */
  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, undefined> {
    try {
      for (let chunk = await this.read(); chunk !== null; chunk = await this.read()) yield chunk;
    } finally {
      this.abandon();
    }
    return undefined;
  }

  /** Whether reading was paused before the end of the output. */
  get isPaused(): boolean {
    return this.#isPaused && !this.#isAbandoned && !(this.isEnded && this.#queued.length === 0);
  }

  /** Makes current and later calls to `read` return null until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#wakeReaders();
  }

  resume(): void {
    this.#isPaused = false;
  }

  /** Stops reading permanently; the process can continue to print. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#queued = [];
    this.#head = 0;
    this.#bytes = 0;
    if (this.isFull) this.#setFull(false);
    this.#wakeReaders();
  }

  #takeChunk(): OutputChunk | null {
    const first = this.#queued[this.#head];
    if (first === undefined) return null;
    this.#head += 1;
    let length = first.bytes.length;
    const parts = [first.bytes];
    for (let next = this.#queued[this.#head]; next?.stream === first.stream; next = this.#queued[this.#head]) {
      if (length + next.bytes.length > MAX_MERGED_BYTES) break;
      parts.push(next.bytes);
      length += next.bytes.length;
      this.#head += 1;
    }
    if (this.#head === this.#queued.length) {
      this.#queued = [];
      this.#head = 0;
    }
    this.#bytes -= length;
    if (this.isFull && this.#bytes <= LOW_WATER) this.#setFull(false);
    return parts.length === 1 ? first : { stream: first.stream, bytes: Buffer.concat(parts, length) };
  }

  #setFull(isFull: boolean): void {
    this.isFull = isFull;
    this.#flow(!isFull);
  }

  #wakeReaders(): void {
    for (const resolve of this.#waiting) resolve(null);
    this.#waiting = [];
  }
}
