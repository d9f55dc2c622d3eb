import type { FoundCandidate } from '../found-candidate.js';
import { balancedEnd } from '../find/balanced-end.js';
import { readBlock } from '../read-candidate.js';
import type { SearchSettings } from '../search-settings.js';

const FENCE = /```[ \t]*[\w+.-]*[ \t]*\n?([^]*?)```/g;

/** Source document 000, what is done to each text: as it is, without its fence, its first object. */
export function* findGeneric(text: string, settings: SearchSettings): Generator<FoundCandidate> {
  yield block('whole', text, 0, text.length, settings);
  for (const match of text.matchAll(FENCE)) {
    const start = match.index + match[0].length - '```'.length - (match[1]?.length ?? 0);
    yield block('fence', text, start, start + (match[1]?.length ?? 0), settings);
  }
  const first = text.indexOf('{');
  const end = first === -1 ? -1 : balancedEnd(text, first, text.length);
  if (end !== -1) yield block('prose', text, first, end, settings);
}

function block(finder: 'whole' | 'fence' | 'prose', text: string, start: number, end: number, settings: SearchSettings): FoundCandidate {
  const whole = finder === 'whole';
  return {
    finder,
    start,
    end,
    level: 0,
    untouched: whole,
    optional: whole && !/^\s*[[{]/.test(text),
    read: () => readBlock(text, start, end, settings, false),
  };
}
