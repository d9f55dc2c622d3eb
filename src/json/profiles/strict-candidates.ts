import type { FinderName } from '../candidate.js';
import { BracketWalker } from '../find/bracket-walker.js';
import { readBlock } from '../read-candidate.js';
import type { Reading } from '../reader/read-value.js';
import type { SearchSettings } from '../search-settings.js';
import { found, type FoundCandidate } from './found-candidate.js';

const FENCED = /```[ \t]*[\w+.-]*[ \t]*\n?([^]*?)```/g;
const CLOSED_THINK = /<think>[^]*?<\/think>/g;
const OUTER_FENCES = /^[^]*?```[ \t]*(?:json)?/i;

/** Source document 000, what is done to each text: as it is, without its fence, its first object. */
export function* findGeneric(text: string, settings: SearchSettings): Generator<FoundCandidate> {
  yield block('whole', text, 0, text.length, settings, true);
  for (const match of text.matchAll(FENCED)) {
    const end = match.index + match[0].length - 3;
    yield block('fence', text, end - (match[1]?.length ?? 0), end, settings);
  }
  yield* findFirstObject(text, 0, text.length, settings);
}

/**
 * Source document 003, steps 2 to 6: the text without closed `<think>` blocks, without what stands outside the first and
 * the last fence, read with control characters escaped; failing that, from the first `{` to its pair.
 */
export function* findUnified(raw: string, settings: SearchSettings): Generator<FoundCandidate> {
  yield block('whole', raw, 0, raw.length, settings, true);
  // Blanks keep every offset what it was in the text given.
  const text = raw.replace(CLOSED_THINK, (thinking) => ' '.repeat(thinking.length));
  const close = text.lastIndexOf('```');
  const open = OUTER_FENCES.exec(text)?.[0].length ?? 0;
  const [start, end] = close >= open && open > 0 ? [open, close] : [0, text.length];
  yield block(start === 0 ? 'whole' : 'fence', text, start, end, settings);
  yield* findFirstObject(text, start, end, settings);
}

function* findFirstObject(
  text: string,
  from: number,
  limit: number,
  settings: SearchSettings,
): Generator<FoundCandidate> {
  const start = text.indexOf('{', from);
  const end = start === -1 ? -1 : new BracketWalker(text, start).findEnd(limit);
  if (end !== -1) yield block('prose', text, start, end, settings);
}

function block(
  finder: FinderName,
  text: string,
  start: number,
  end: number,
  settings: SearchSettings,
  untouched = false,
): FoundCandidate {
  const read = (): Reading => {
    const reading = readBlock(text, start, end, settings);
    // What begins with a bracket was meant as JSON, however early a reader that mends nothing gives up.
    return reading.ok ? reading : { ...reading, plausible: /^\s*[[{]/.test(text.slice(start, end)) };
  };
  return found(finder, start, end, read, untouched);
}
