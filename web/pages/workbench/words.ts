import type { FinderName } from '../../../src/json/index.js';
import type { Tone } from '../../ui/notice.js';
import type { CandidateState } from './inspection.js';

/** How a candidate was found. */
export const FINDER_WORDS: Readonly<Record<FinderName, string>> = {
  whole: 'the whole text, without thinking',
  tag: 'inside <json> tags',
  ndjson: 'a line of its own',
  envelope: 'inside a field of a JSON document',
  fence: 'behind a fence',
  prose: 'in running text',
};

/** What became of it. */
export const STATE_WORDS: Readonly<Record<CandidateState, { readonly word: string; readonly tone: Tone }>> = {
  taken: { word: 'taken', tone: 'good' },
  refused: { word: 'refused', tone: 'bad' },
  rival: { word: 'passes too', tone: 'warn' },
  spare: { word: 'not tried', tone: 'plain' },
};
