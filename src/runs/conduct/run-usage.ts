import { UsageTotals, sumUsage } from '../../events/index.js';
import type { Usage } from '../../events/index.js';

/** Adds up what all attempts of a run have used. An engine tells the total of its session, whatever attempt it is in. */
export class RunUsage {
  #before: Usage | null = null;
  #session = new UsageTotals();

  /** The next attempt begins a session of its own: what was used before is not in its totals. */
  startSession(): void {
    this.#before = this.total;
    this.#session = new UsageTotals();
  }

  add(usage: Usage): void {
    this.#session.add(usage);
  }

  /** What was used so far; null if no engine has said. */
  get total(): Usage | null {
    const now = this.#session.total;
    if (this.#before === null || now === null) return now ?? this.#before;
    return sumUsage(this.#before, now);
  }

  get tokens(): number {
    const { total } = this;
    return total === null ? 0 : (total.total_tokens ?? total.input_tokens + total.output_tokens);
  }

  get cost(): number {
    return this.total?.cost ?? 0;
  }
}
