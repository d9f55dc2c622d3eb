import type { FoundCandidate } from '../found-candidate.js';
import { balancedEnd } from '../find/balanced-end.js';
import type { Region } from '../find/region.js';
import { readBlock } from '../read-candidate.js';
import type { SearchSettings } from '../search-settings.js';

const FENCE = '```';
const CLOSED_THINK = /<think>[^]*?<\/think>/g;

/**
 * Source document 003, steps 2 to 6: the text without closed `<think>` blocks, without what stands outside the first and
 * the last fence, read with control characters escaped; failing that, from the first `{` to its pair.
 */
export function* findUnified(raw: string, settings: SearchSettings): Generator<FoundCandidate> {
  yield candidate('whole', raw, 0, { start: 0, end: raw.length }, settings, true);
  const { text, offset } = withoutThinking(raw);
  const content = insideFences(text);
  const finder = content.start === 0 && content.end === text.length ? 'whole' : 'fence';
  yield candidate(finder, text, offset, content, settings, false);
  const first = text.indexOf('{', content.start);
  const end = first === -1 || first >= content.end ? -1 : balancedEnd(text, first, content.end);
  if (end !== -1) yield candidate('prose', text, offset, { start: first, end }, settings, false);
}

/** The text without its closed thinking, and how far offsets moved by what was taken off its front. */
function withoutThinking(raw: string): { readonly text: string; readonly offset: number } {
  if (!raw.includes('</think>')) return { text: raw, offset: 0 };
  const text = raw.replace(CLOSED_THINK, '');
  return { text, offset: raw.endsWith(text) ? raw.length - text.length : 0 };
}

function insideFences(text: string): Region {
  const open = text.indexOf(FENCE);
  const close = text.lastIndexOf(FENCE);
  if (open === -1 || close === open) return { start: 0, end: text.length };
  const language = /^[ \t]*(?:json)?/i.exec(text.slice(open + FENCE.length, close))?.[0] ?? '';
  return { start: open + FENCE.length + language.length, end: close };
}

function candidate(
  finder: 'whole' | 'fence' | 'prose',
  text: string,
  offset: number,
  span: Region,
  settings: SearchSettings,
  untouched: boolean,
): FoundCandidate {
  return {
    finder,
    start: span.start + offset,
    end: span.end + offset,
    level: 0,
    untouched,
    optional: !/[[{]/.test(text.slice(span.start, span.end)),
    read: () => {
      const reading = readBlock(text, span.start, span.end, settings, false);
      if (!reading.ok || offset === 0) return reading;
      return { ...reading, repairs: reading.repairs.map((repair) => ({ ...repair, offset: repair.offset + offset })), end: reading.end + offset };
    },
  };
}
