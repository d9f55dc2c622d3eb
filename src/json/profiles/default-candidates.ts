import type { FoundCandidate } from '../found-candidate.js';
import { findFencedValues } from '../find/fence-finder.js';
import { findNdjsonLines } from '../find/ndjson-finder.js';
import { findProseValues } from '../find/prose-finder.js';
import type { Region } from '../find/region.js';
import { findTagBlocks, type TagBlock } from '../find/tag-finder.js';
import { visibleRegions } from '../find/thinking.js';
import { readBlock, readOpen } from '../read-candidate.js';
import type { Reading } from '../reader/read-value.js';
import type { SearchSettings } from '../search-settings.js';

/** Where the answer is known to stand: the whole text, a tag, a line of NDJSON. */
export function* findMarked(text: string, settings: SearchSettings): Generator<FoundCandidate> {
  const regions = visibleRegions(text);
  yield* findWhole(text, regions, settings);
  for (const block of findTagBlocks(text, regions)) yield tagCandidate(text, block, settings);
  for (const { start, end } of findNdjsonLines(text, regions, settings.limits.candidates)) {
    yield { finder: 'ndjson', start, end, level: 0, read: (truncation) => readBlock(text, start, end, settings, truncation) };
  }
}

/** Where the answer must be looked for: behind fences and in running text. */
export function* findUnmarked(text: string, settings: SearchSettings): Generator<FoundCandidate> {
  const regions = visibleRegions(text);
  const fenced = new Set<number>();
  for (const { start, end } of findFencedValues(text, regions)) {
    fenced.add(start);
    yield openCandidate('fence', text, start, end, settings);
  }
  const read = (start: number, end: number): Reading => readOpen(text, start, end, settings, false);
  for (const { start, end, reading } of findProseValues(text, regions, read)) {
    if (!fenced.has(start)) yield openCandidate('prose', text, start, reading.ok ? reading.end : end, settings);
  }
}

/** A `<json>` block, with a second look for prose and closing tags inside its content. */
export function tagCandidate(text: string, block: TagBlock, settings: SearchSettings): FoundCandidate {
  const read = (truncation: boolean): Reading => {
    const reading = readBlock(text, block.start, block.end, settings, truncation);
    if (reading.ok) return reading;
    const extended = block.lastClose > block.end ? readBlock(text, block.start, block.lastClose, settings, false) : reading;
    if (extended.ok) return extended;
    const bracket = text.slice(block.start, block.end).search(/[[{]/);
    if (bracket <= 0) return reading;
    const inner = readOpen(text, block.start + bracket, block.end, settings, truncation);
    return inner.ok ? inner : reading;
  };
  return { finder: 'tag', start: block.start, end: block.end, level: 0, read };
}

function* findWhole(text: string, regions: readonly Region[], settings: SearchSettings): Generator<FoundCandidate> {
  const [only, second] = regions;
  if (only === undefined || second !== undefined) return;
  const whole = only.start === 0 && only.end === text.length;
  const { start, end } = whole ? only : trimmed(text, only);
  const optional = !/^[\s\uFEFF]*[[{]/.test(text.slice(start, start + 64));
  yield {
    finder: 'whole',
    start,
    end,
    level: 0,
    optional,
    untouched: whole,
    read: (truncation) => readBlock(text, start, end, settings, truncation),
  };
}

function openCandidate(
  finder: 'fence' | 'prose',
  text: string,
  start: number,
  end: number,
  settings: SearchSettings,
): FoundCandidate {
  return { finder, start, end, level: 0, read: (truncation) => readOpen(text, start, end, settings, truncation) };
}

function trimmed(text: string, region: Region): Region {
  const content = text.slice(region.start, region.end);
  const start = region.start + content.length - content.trimStart().length;
  return { start, end: start + content.trim().length };
}
