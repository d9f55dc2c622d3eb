import { listKeys } from '../../base/index.js';
import { usageSchema, type Usage } from '../protocol/event-parts.js';

type CountName = Exclude<keyof Usage, 'scope' | 'model'>;

const COUNTS = listKeys(usageSchema.properties).filter((key): key is CountName => key !== 'scope' && key !== 'model');

/** Totals an attempt's usage. A total reported by the engine is used unchanged; otherwise the turns are added up. */
export class UsageTotals {
  #total: Usage | null = null;
  #turns: Usage | null;

  /** Continues from the usage so far. */
  constructor(previous: Usage | null = null) {
    this.#turns = previous;
  }

  add(usage: Usage): void {
    if (usage.scope === 'total') this.#total = usage;
    else this.#turns = this.#turns === null ? usage : sumUsage(this.#turns, usage);
  }

  /** Usage so far, or null if the engine has not reported any. */
  get total(): Usage | null {
    if (this.#total !== null) return this.#total;
    return this.#turns === null ? null : { ...this.#turns, scope: 'total' };
  }
}

export function sumUsage(left: Usage, right: Usage): Usage {
  const sum: { -readonly [Key in keyof Usage]: Usage[Key] } = { ...left };
  for (const key of COUNTS) {
    const value = right[key];
    // An infinite sum could not be written as JSON.
    if (value !== undefined) sum[key] = Math.min((left[key] ?? 0) + value, Number.MAX_VALUE);
  }
  return sum;
}
