import { harmonyRegions } from './harmony.js';
import { JsonPosition } from './json-position.js';
import type { Region } from './region.js';

/** Tags models think in, as they open and close; attributes allowed. */
const THINK_TAG = /<(\/?)(think|thinking|thought|reasoning)(?:\s[^<>]{0,80})?>|\[(\/?)(THINK)\]/gi;

/**
 * The regions left when the model's thinking is set aside: everything but `<think>` blocks, what stands before a lone
 * `</think>`, and harmony channels other than the final one. An unclosed block reaches to the end of the text. A tag
 * inside a JSON string is content.
 */
export function visibleRegions(text: string): readonly Region[] {
  if (text.includes('<|channel|>')) return harmonyRegions(text);
  if (!mayHoldTag(text)) return [{ start: 0, end: text.length }];
  const regions: Region[] = [];
  const position = new JsonPosition(text);
  let start = 0;
  let open: string | undefined;
  for (const match of text.matchAll(THINK_TAG)) {
    const name = (match[2] ?? match[4] ?? '').toLowerCase();
    const closes = (match[1] ?? match[3]) === '/';
    const end = match.index + match[0].length;
    if (open === undefined && position.isInString(match.index)) continue;
    if (!closes && open === undefined) {
      pushRegion(regions, text, start, match.index);
      open = name;
    } else if (closes && (open === undefined || open === name)) {
      // Without an opening tag all that came before was thinking.
      if (open === undefined) regions.length = 0;
      open = undefined;
      start = end;
      position.skipTo(end);
    }
  }
  if (open === undefined) pushRegion(regions, text, start, text.length);
  return regions;
}

/** A plain search for the first letters is many times faster than the pattern on long texts without any tag. */
function mayHoldTag(text: string): boolean {
  return text.includes('<') || text.includes('[THINK]') || text.includes('[/THINK]');
}

function pushRegion(regions: Region[], text: string, start: number, end: number): void {
  if (text.slice(start, end).trim() !== '') regions.push({ start, end });
}
