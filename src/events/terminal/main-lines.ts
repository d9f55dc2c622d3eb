import type { Frame } from '../framing/frame.js';
import { textKey } from './text-key.js';

/** Records kept to be compared with the terminal; then the oldest are forgotten. */
const MAX_RECORDS = 2048;
/** Other lines remembered. */
const MAX_TEXT_LINES = 20_000;

/** What stdout and stderr printed, as far as the terminal may still repeat it. */
export class MainLines {
  #records: string[] = [];
  readonly #texts = new Map<string, number>();
  #isEmpty = true;
  #hasForgotten = false;

  /** Whether the streams printed nothing at all. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Whether a record was forgotten before the terminal could repeat it. */
  get hasForgotten(): boolean {
    return this.#hasForgotten;
  }

  /** The keys of the records, oldest first. */
  get records(): readonly string[] {
    return this.#records;
  }

  get isFull(): boolean {
    return this.#records.length >= MAX_RECORDS;
  }

  add(frame: Frame): void {
    if (frame.kind !== 'json' && frame.kind !== 'text') return;
    this.#isEmpty = false;
    const key = textKey(frame.text);
    if (frame.kind === 'json') this.#records.push(key);
    else if (this.#texts.size < MAX_TEXT_LINES) this.#texts.set(key, (this.#texts.get(key) ?? 0) + 1);
  }

  /** The terminal has got so far: older records will not be repeated. */
  drop(count: number): void {
    this.#records = this.#records.slice(count);
  }

  /** Older records are not known any more. */
  forget(count: number = this.#records.length >> 1): void {
    this.#hasForgotten = true;
    this.drop(count);
  }

  /** The terminal repeats this line: true once for each time the streams printed it. */
  repeatsText(key: string): boolean {
    const count = this.#texts.get(key) ?? 0;
    if (count > 1) this.#texts.set(key, count - 1);
    else this.#texts.delete(key);
    return count > 0;
  }
}
