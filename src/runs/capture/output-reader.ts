import type { OutputChunk } from '../process/output-queue.js';

/** Reads the output of a process that can span multiple attempts: reading can pause without losing output. */
export class OutputReader {
  readonly #source: AsyncIterator<OutputChunk>;
  #isReading = false;
  #arrived: IteratorResult<OutputChunk, unknown> | null = null;
  #failure: { readonly error: unknown } | null = null;
  #wake: (() => void) | null = null;
  #isPaused = false;

  constructor(output: AsyncIterable<OutputChunk>) {
    this.#source = output[Symbol.asyncIterator]();
  }

  /** Whether it was paused before the end of the output. */
  get isPaused(): boolean {
    return this.#isPaused && this.#arrived?.done !== true;
  }

  /** Returns the next chunk; null at the end, and while reading is paused. */
  async next(): Promise<OutputChunk | null> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure.error;
      if (this.#isPaused) return null;
      const arrived = this.#arrived;
      if (arrived?.done === true) return null;
      if (arrived !== null) {
        this.#arrived = null;
        return arrived.value;
      }
      this.#startReading();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Makes current and later calls to `next` return null until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#wake?.();
  }

  resume(): void {
    this.#isPaused = false;
  }

  /** Stops reading permanently; the process can continue to print. */
  abandon(): void {
    this.#arrived = { done: true, value: undefined };
    void this.#source.return?.();
  }

  #startReading(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#read();
  }

  async #read(): Promise<void> {
    try {
      const result = await this.#source.next();
      this.#isReading = false;
      this.#arrived ??= result;
    } catch (error) {
      this.#failure = { error };
    }
    this.#wake?.();
  }
}
