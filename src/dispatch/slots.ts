import type { RunSlot } from '../runs/index.js';

/** How many runs a worker executes at once. A run that waits for an answer without a process takes no slot. */
export class Slots {
  readonly #count: number;
  readonly #taken = new Set<string>();
  #waiting: (() => void)[] = [];
  /** Called when a slot becomes free. */
  onFree: () => void = () => undefined;

  constructor(count: number) {
    this.#count = count;
  }

  get taken(): number {
    return this.#taken.size;
  }

  get isFull(): boolean {
    return this.#taken.size >= this.#count;
  }

  /** Whether one more fills it. */
  get isLast(): boolean {
    return this.#taken.size === this.#count - 1;
  }

  take(claim: string): void {
    this.#taken.add(claim);
  }

  free(claim: string): void {
    if (!this.#taken.delete(claim)) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
    this.onFree();
  }

  /** The slot of one claim; a run that waits for it continues without one when `stop` is aborted. */
  assign(claim: string, stop: AbortSignal): RunSlot {
    return {
      release: () => this.free(claim),
      acquire: async () => {
        while (this.isFull && !this.#taken.has(claim) && !stop.aborted) {
          await new Promise<void>((resolve) => {
            this.#waiting.push(resolve);
            stop.addEventListener('abort', () => resolve(), { once: true });
          });
        }
        this.take(claim);
      },
    };
  }
}
