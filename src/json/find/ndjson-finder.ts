import type { Region } from './survey.js';

/** A line that may hold a value, and one that could only stand inside a value written over several lines, or in a fence. */
const VALUE_LINE = /^\s*(?:\{[^]*}|\[[^]*])\s*$/;
const INSIDE_LINE = /^\s*(?:[}\]"]|```|[[{]\s*$)/;

/**
 * The lines that hold a JSON value each, last first, if the text is NDJSON: at least two such lines, log lines between
 * them allowed.
 */
export function findNdjsonLines(text: string, regions: readonly Region[], most: number): readonly Region[] {
  const lines: Region[] = [];
  for (const region of regions.toReversed()) {
    let { end } = region;
    while (end > region.start && lines.length < most) {
      const start = Math.max(text.lastIndexOf('\n', end - 1) + 1, region.start);
      const line = text.slice(start, end);
      if (INSIDE_LINE.test(line)) return [];
      if (VALUE_LINE.test(line)) lines.push({ start, end });
      end = start - 1;
    }
  }
  return lines.length > 1 ? lines : [];
}
