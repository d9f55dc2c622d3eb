import type { OutputChunk } from '../process/output-queue.js';

/** Reads the output of a process that may be kept over several attempts: reading can pause without losing anything. */
export class OutputReader {
  readonly #source: AsyncIterator<OutputChunk>;
  #isAsked = false;
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

  /** The next chunk; null at the end, and while it is paused. */
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
      this.#ask();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Lets the current `next` and all later ones return null, until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#wake?.();
  }

  resume(): void {
    this.#isPaused = false;
  }

  /** Nothing more is read; the process may print on. */
  abandon(): void {
    this.#arrived = { done: true, value: undefined };
    void this.#source.return?.();
  }

  #ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    void this.#take();
  }

  async #take(): Promise<void> {
    try {
      const result = await this.#source.next();
      this.#isAsked = false;
      this.#arrived ??= result;
    } catch (error) {
      this.#failure = { error };
    }
    this.#wake?.();
  }
}
