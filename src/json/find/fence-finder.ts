import { BracketWalker } from './bracket-walker.js';
import type { Region } from './survey.js';

/** A fence, its language word and attributes, up to the bracket the value begins with. Bounded, to stay linear. */
const FENCED_VALUE = /(?:```|~~~)[ \t]{0,8}(?:[\w+.-]{0,32}\s{0,256}|[^\n`]{0,200}\n\s{0,256})(?=[[{])/g;

/**
 * Where values begin right behind a Markdown fence, first first; they reach as far as the reader reads. Every fence
 * counts as an opening one, but for those inside a JSON string: a closing fence around another block does no harm.
 */
export function findFencedValues(text: string, regions: readonly Region[]): readonly Region[] {
  return regions.flatMap(({ start, end }) => {
    const walker = new BracketWalker(text, start);
    return [...text.slice(start, end).matchAll(FENCED_VALUE)]
      .filter((match) => !walker.isInString(start + match.index))
      .map((match) => ({ start: start + match.index + match[0].length, end }));
  });
}
