import type { Frame } from '../framing/frame.js';

/** Records kept to be compared with the terminal, by their keys; then the older half is forgotten. */
const MAX_RECORDS = 65_536;
/** Records compared at once. */
const WINDOW = 4096;
/** Other lines remembered. */
const MAX_TEXT_LINES = 20_000;

/** Recent lines of stdout and stderr, as far as the terminal may still repeat them. */
export class MainLines {
  #records: string[] = [];
  /** How often each key is among the records. */
  readonly #counts = new Map<string, number>();
  /** Records that the terminal has passed without repeating them; one that it repeats later was not lost. */
  readonly #passed = new Map<string, number>();
  readonly #texts = new Map<string, number>();
  #isEmpty = true;
  /** Whether records were forgotten before the terminal could repeat them. */
  hasForgotten = false;

  /** Whether the streams printed nothing at all. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  get hasRecords(): boolean {
    return this.#records.length > 0;
  }

  /** Whether a record with this key was printed that the terminal may still repeat. */
  hasRecord(key: string): boolean {
    return this.#counts.has(key);
  }

  /** The keys of the oldest records, in order. */
  window(): readonly string[] {
    return this.#records.slice(0, WINDOW);
  }

  /** How often each key occurs among the records that are not in `paired`, which are positions in the window. */
  countOthers(paired: ReadonlySet<number>): Map<string, number> {
    const counts = new Map<string, number>();
    for (const [index, key] of this.#records.entries()) {
      if (!paired.has(index)) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  }

  add(frame: Frame): void {
    if (frame.kind !== 'json' && frame.kind !== 'text') return;
    this.#isEmpty = false;
    const key = textKey(frame.text);
    if (frame.kind === 'json') {
      this.#records.push(key);
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
      if (this.#records.length > MAX_RECORDS) this.#forget();
    } else if (this.#texts.size < MAX_TEXT_LINES) this.#texts.set(key, (this.#texts.get(key) ?? 0) + 1);
  }

  /** The terminal has got so far: older records will not be repeated, but for those it passed, which are not in `paired`. */
  drop(count: number, paired: ReadonlySet<number> = NONE): void {
    for (const [index, key] of this.#records.slice(0, count).entries()) {
      takeOne(this.#counts, key);
      if (!paired.has(index) && this.#passed.size < MAX_RECORDS)
        this.#passed.set(key, (this.#passed.get(key) ?? 0) + 1);
    }
    this.#records = this.#records.slice(count);
  }

  /** The terminal repeats a record that it had passed: true once for each of them. */
  repeatsPassed(key: string): boolean {
    return takeOne(this.#passed, key);
  }

  /** The terminal repeats this line: true once for each time the streams printed it. */
  repeatsText(key: string): boolean {
    return takeOne(this.#texts, key);
  }

  /** Older records are not known any more. */
  #forget(): void {
    this.hasForgotten = true;
    const count = this.#records.length >> 1;
    this.drop(count, new Set(Array.from({ length: count }, (_, index) => index)));
  }
}

const NONE: ReadonlySet<number> = new Set();

/** Decrements the count of a key; true if it was above zero. */
export function takeOne(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key) ?? 0;
  if (count > 1) counts.set(key, count - 1);
  else counts.delete(key);
  return count > 0;
}

/**
 * A fingerprint of a text, so that long lines need not be kept to be compared. Two independent 32-bit hashes and the
 * length; an attacker gains nothing from a collision but that one of their own lines is reported once.
 */
export function textKey(text: string): string {
  const plain = text.trim();
  let one = 0x811c9dc5;
  let two = 0x9e3779b9;
  for (let index = 0; index < plain.length; index++) {
    const unit = plain.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x01000193);
    two = Math.imul(two + unit, 0x85ebca6b) ^ (two >>> 13);
  }
  return `${plain.length}:${one >>> 0}:${two >>> 0}`;
}
