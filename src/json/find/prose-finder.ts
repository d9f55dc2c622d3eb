import type { Reading } from '../reader/read-value.js';
import { balancedEnd } from './balanced-end.js';
import { nextBracket } from './json-position.js';
import type { Region } from './region.js';

/** A value found in running text, with the reading that found it. */
export interface ProseValue extends Region {
  readonly reading: Reading;
}

/** Reads one value that begins at `start` and reaches at most to `end`. */
export type ReadOpen = (start: number, end: number) => Reading;

/** Placeholders such as `{name}` fail at once; so many of them in a text are enough to stop looking. */
const MOST_FAILURES = 10_000;
/** Characters read in vain, as a multiple of the text, before the search is given up: keeps time linear. */
const READING_FACTOR = 4;
const READING_BASE = 65_536;

/**
 * Values in running text, first first: objects before arrays, filled ones before empty ones, because `[1]` and `{}` in
 * prose are seldom the answer. What stands inside a value is not looked at again, even if the value cannot be read: a
 * part of the answer would pass for the whole.
 */
export function findProseValues(text: string, regions: readonly Region[], read: ReadOpen): readonly ProseValue[] {
  const found = new ProseSearch(text, read);
  for (const region of regions) found.search(region);
  return [...found.values].sort((left, right) => rank(left, text) - rank(right, text));
}

class ProseSearch {
  readonly values: ProseValue[] = [];
  private readonly text: string;
  private readonly read: ReadOpen;
  private failures = 0;
  private budget: number;

  constructor(text: string, read: ReadOpen) {
    this.text = text;
    this.read = read;
    this.budget = READING_FACTOR * text.length + READING_BASE;
  }

  search(region: Region): void {
    let at = nextBracket(this.text, region.start, region.end);
    while (at !== -1 && this.failures < MOST_FAILURES && this.budget > 0) {
      const next = this.readAt(at, region.end);
      if (next === -1) return;
      at = nextBracket(this.text, next, region.end);
    }
  }

  /** Offset to go on from; -1 when the rest of the region belongs to this value. */
  private readAt(start: number, limit: number): number {
    const reading = this.read(start, limit);
    this.budget -= reading.end - start;
    if (reading.ok) {
      this.values.push({ start, end: reading.end, reading });
      return reading.end;
    }
    if (!reading.plausible) {
      this.failures++;
      return start + 1;
    }
    const cut = reading.failure.code !== 'SYNTAX';
    const end = cut ? -1 : balancedEnd(this.text, start, limit);
    this.budget -= (end === -1 ? limit : end) - start;
    this.values.push({ start, end: end === -1 ? limit : end, reading });
    return end;
  }
}

function rank(value: ProseValue, text: string): number {
  if (!value.reading.ok) return 0;
  const content = value.reading.value;
  const filled = typeof content === 'object' && content !== null && Object.keys(content).length > 0;
  if (!filled) return 2;
  return text.charCodeAt(value.start) === 0x7b ? 0 : 1;
}
