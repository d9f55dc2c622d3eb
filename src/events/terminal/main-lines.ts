import type { Frame } from '../framing/frame.js';

/** Limit on records whose keys are stored for comparison with the terminal; beyond it, the older half is dropped. */
const MAX_RECORDS = 65_536;
/** The number of records compared at a time. */
const WINDOW = 4096;
/** Limit on other stored lines. */
const MAX_TEXT_LINES = 20_000;

/** Recent lines of stdout and stderr that the terminal can still repeat. */
export class MainLines {
  #records: string[] = [];
  readonly #counts = new Map<string, number>();
  /** Records that the terminal skipped; it can still repeat them later. */
  readonly #skippedCounts = new Map<string, number>();
  readonly #lineCounts = new Map<string, number>();
  isEmpty = true;
  hasStdout = false;
  /** Whether records were dropped before the terminal could repeat them. */
  hasDropped = false;

  get hasRecords(): boolean {
    return this.#records.length > 0;
  }

  /** Whether the terminal can still repeat a record with this key. */
  hasRecord(key: string): boolean {
    return this.#counts.has(key);
  }

  /** Returns the keys of the oldest records, in order. */
  getWindow(): readonly string[] {
    return this.#records.slice(0, WINDOW);
  }

  /** Counts the records with each key that are not in `paired`, which has positions in the window. */
  countUnpaired(paired: ReadonlySet<number>): Map<string, number> {
    const counts = new Map<string, number>();
    for (const [index, key] of this.#records.entries()) {
      if (!paired.has(index)) increment(counts, key);
    }
    return counts;
  }

  add(frame: Frame): void {
    if (frame.kind !== 'json' && frame.kind !== 'text') return;
    this.isEmpty = false;
    this.hasStdout ||= frame.stream === 'stdout';
    const key = hashText(frame.text);
    if (frame.kind === 'json') {
      this.#records.push(key);
      increment(this.#counts, key);
      if (this.#records.length > MAX_RECORDS) this.#dropOlder();
    } else if (this.#lineCounts.size < MAX_TEXT_LINES) increment(this.#lineCounts, key);
  }

  /** Drops records that the terminal has passed. Records not in `paired` were skipped and can still be repeated. */
  drop(count: number, paired: ReadonlySet<number>): void {
    for (const [index, key] of this.#records.slice(0, count).entries()) {
      decrement(this.#counts, key);
      if (!paired.has(index) && this.#skippedCounts.size < MAX_RECORDS) increment(this.#skippedCounts, key);
    }
    this.#records = this.#records.slice(count);
  }

  /** Whether the terminal repeats a record that it had skipped; true once for each. */
  takeSkipped(key: string): boolean {
    return decrement(this.#skippedCounts, key);
  }

  /** Whether the terminal repeats this line; true once for each time the streams printed it. */
  takeText(key: string): boolean {
    return decrement(this.#lineCounts, key);
  }

  #dropOlder(): void {
    this.hasDropped = true;
    const count = this.#records.length >> 1;
    this.drop(count, new Set(Array.from({ length: count }, (_, index) => index)));
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Decrements the count of a key; true if it was above zero. */
export function decrement(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key) ?? 0;
  if (count > 1) counts.set(key, count - 1);
  else counts.delete(key);
  return count > 0;
}

/**
 * Returns a string's fingerprint, to compare long lines without storing them: two independent 32-bit hashes and the
 * length. An attacker who creates a collision only achieves that one of their own lines is reported once instead of
 * twice.
 */
export function hashText(text: string): string {
  const plain = text.trim();
  let firstHash = 0x811c9dc5;
  let secondHash = 0x9e3779b9;
  for (let index = 0; index < plain.length; index++) {
    const unit = plain.charCodeAt(index);
    firstHash = Math.imul(firstHash ^ unit, 0x01000193);
    secondHash = Math.imul(secondHash + unit, 0x85ebca6b) ^ (secondHash >>> 13);
  }
  return `${plain.length}:${firstHash >>> 0}:${secondHash >>> 0}`;
}
