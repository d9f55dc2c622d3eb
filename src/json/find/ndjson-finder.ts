import type { Region } from './region.js';

/**
 * The lines that hold a JSON value each, last first, if the text is NDJSON: at least two such lines, log lines between
 * them allowed. A fence, or a line that could only stand inside a value written over several lines, rules it out.
 */
export function findNdjsonLines(text: string, regions: readonly Region[], most: number): readonly Region[] {
  const lines: Region[] = [];
  for (const region of regions.toReversed()) {
    let end = region.end;
    while (end > region.start) {
      const start = Math.max(text.lastIndexOf('\n', end - 1) + 1, region.start);
      const kind = kindOfLine(text, start, end);
      if (kind === 'inside') return [];
      if (kind === 'value') lines.push({ start, end });
      if (lines.length === most) return lines;
      end = start - 1;
    }
  }
  return lines.length >= 2 ? lines : [];
}

function kindOfLine(text: string, start: number, end: number): 'value' | 'inside' | 'other' {
  let first = start;
  while (first < end && text.charCodeAt(first) <= 0x20) first++;
  let last = end - 1;
  while (last > first && text.charCodeAt(last) <= 0x20) last--;
  if (first >= end) return 'other';
  const opening = text[first];
  if (opening === '}' || opening === ']' || opening === '"' || text.startsWith('```', first)) return 'inside';
  if (opening !== '{' && opening !== '[') return 'other';
  const closing = opening === '{' ? '}' : ']';
  if (text[last] === closing && last > first) return 'value';
  return last === first ? 'inside' : 'other';
}
