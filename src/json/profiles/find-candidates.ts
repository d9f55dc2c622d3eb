import type { FoundCandidate, RejectedValue } from '../found-candidate.js';
import { findTagBlocks } from '../find/tag-finder.js';
import { visibleRegions } from '../find/thinking.js';
import type { ParseOptions } from '../parse-options.js';
import type { SearchSettings } from '../search-settings.js';
import { findMarked, findUnmarked, tagCandidate } from './default-candidates.js';
import { findInEnvelopes } from './envelope-candidates.js';
import { findGeneric } from './generic-candidates.js';
import { findUnified } from './unified-candidates.js';

/**
 * The candidates of a text in the order in which its profile tries them. `rejected` is the caller's list of values that
 * were read and did not pass; it is looked at when the turn of the envelopes comes.
 */
export function* findCandidates(
  text: string,
  settings: SearchSettings,
  prefer: ParseOptions['prefer'],
  rejected: readonly RejectedValue[],
): Generator<FoundCandidate> {
  switch (settings.profile) {
    case 'default':
      if (prefer === undefined) yield* findDefault(text, settings, rejected);
      else yield* findByPlace(text, settings, prefer, rejected);
      return;
    case 'generic':
      yield* findGeneric(text, settings);
      yield* findInEnvelopes(rejected, 0, (inner) => findGeneric(inner, settings));
      return;
    case 'tagged':
      yield* findLastTag(text, settings);
      return;
    case 'unified':
      yield* findUnified(text, settings);
  }
}

function* findDefault(text: string, settings: SearchSettings, rejected: readonly RejectedValue[]): Generator<FoundCandidate> {
  const findInText = (inner: string): Iterable<FoundCandidate> => findAnywhere(inner, settings);
  yield* findMarked(text, settings);
  yield* findInEnvelopes(rejected, 0, findInText);
  const before = rejected.length;
  yield* findUnmarked(text, settings);
  yield* findInEnvelopes(rejected, before, findInText);
}

/** `prefer`: by where they stand in the text, not by how they were found. */
function* findByPlace(
  text: string,
  settings: SearchSettings,
  prefer: 'first' | 'last',
  rejected: readonly RejectedValue[],
): Generator<FoundCandidate> {
  const all = [...findAnywhere(text, settings)];
  const direction = prefer === 'first' ? 1 : -1;
  yield* all.toSorted((left, right) => direction * (left.start - right.start));
  yield* findInEnvelopes(rejected, 0, (inner) => findAnywhere(inner, settings));
}

function* findAnywhere(text: string, settings: SearchSettings): Generator<FoundCandidate> {
  yield* findMarked(text, settings);
  yield* findUnmarked(text, settings);
}

/** Profile `tagged`: the last block and no other; untouched if it is closed and clean. */
function* findLastTag(text: string, settings: SearchSettings): Generator<FoundCandidate> {
  const last = findTagBlocks(text, visibleRegions(text))[0];
  if (last !== undefined) yield { ...tagCandidate(text, last, settings), untouched: last.closed };
}
