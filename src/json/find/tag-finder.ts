import type { Region } from './region.js';

const OPEN = /<json(?:\s[^<>]{0,80})?>/gi;
const CLOSE = /<\/json\s*>/gi;

/** The content of a `<json>` block. */
export interface TagBlock extends Region {
  readonly closed: boolean;
  /** The last closing tag before the next block: the real end, if the first one stands inside a string. */
  readonly lastClose: number;
}

/** The `<json>` blocks of the regions, last first. One without a closing tag reaches to the end of its region. */
export function findTagBlocks(text: string, regions: readonly Region[]): readonly TagBlock[] {
  return regions.flatMap((region) => blocksOf(text, region)).toReversed();
}

function blocksOf(text: string, region: Region): TagBlock[] {
  const content = text.slice(region.start, region.end);
  const opens = [...content.matchAll(OPEN)];
  if (opens.length === 0) return [];
  const closes = [...content.matchAll(CLOSE)];
  let nextClose = 0;
  return opens.map((open, index) => {
    const start = open.index + open[0].length;
    // An opening tag before the closing one: the block was given up and started again.
    const limit = opens[index + 1]?.index ?? content.length;
    while ((closes[nextClose]?.index ?? Infinity) < start) nextClose++;
    const first = closes[nextClose]?.index ?? Infinity;
    while ((closes[nextClose + 1]?.index ?? Infinity) < limit) nextClose++;
    const end = Math.min(first, limit);
    const lastClose = Math.min(closes[nextClose]?.index ?? end, limit);
    return { start: region.start + start, end: region.start + end, closed: first < limit, lastClose: region.start + lastClose };
  });
}
