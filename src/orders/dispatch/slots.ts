import type { RunSlot } from '../../runs/index.js';

/** A worker's slots: one per run that it executes. A run that waits for an answer without a process uses no slot. */
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

  /** Whether exactly one slot is free. */
  get hasOneFree(): boolean {
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

  /** Returns a claim's slot. A run that waits for a slot continues without one when `stop` is aborted. */
  assign(claim: string, stop: AbortSignal): RunSlot {
    return {
      release: () => this.free(claim),
      acquire: async () => {
        while (this.isFull && !this.#taken.has(claim) && !stop.aborted) {
          await new Promise<void>((resolve) => {
            const wake = (): void => {
              stop.removeEventListener('abort', wake);
              resolve();
            };
            this.#waiting.push(wake);
            stop.addEventListener('abort', wake);
          });
        }
        this.take(claim);
      },
    };
  }
}
