import type { Region } from './region.js';

/** A fence, its language word and attributes, up to the bracket the value begins with. Bounded, to stay linear. */
const FENCED_VALUE = /(?:```|~~~)[ \t]{0,8}(?:[\w+.-]{0,32}\s{0,256}|[^\n`]{0,200}\n\s{0,256})(?=[[{])/g;

/**
 * Where values begin right behind a Markdown fence, first first; they reach as far as the reader reads. Every fence
 * counts as an opening one: a closing fence inside a string or around another block does no harm that way.
 */
export function* findFencedValues(text: string, regions: readonly Region[]): Generator<Region> {
  for (const region of regions) {
    const content = text.slice(region.start, region.end);
    if (!content.includes('```') && !content.includes('~~~')) continue;
    for (const match of content.matchAll(FENCED_VALUE)) {
      yield { start: region.start + match.index + match[0].length, end: region.end };
    }
  }
}
