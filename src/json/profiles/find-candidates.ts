import type { ParseOptions } from '../parse-options.js';
import type { SearchSettings } from '../search-settings.js';
import { findAnywhere, findLastTag } from './default-candidates.js';
import { findInEnvelopes } from './envelope-candidates.js';
import type { FoundCandidate, RejectedValue } from './found-candidate.js';
import { findGeneric, findUnified } from './strict-candidates.js';

/**
 * The candidates of a text in the order in which its profile tries them. `rejected` is where the caller puts the
 * values that were read and did not pass; they are taken from there when the turn of the envelopes comes.
 */
export function* findCandidates(
  text: string,
  settings: SearchSettings,
  prefer: ParseOptions['prefer'],
  rejected: RejectedValue[],
): Generator<FoundCandidate> {
  switch (settings.profile) {
    case 'default': {
      const inEnvelopes = (): Iterable<FoundCandidate> =>
        findInEnvelopes(rejected, (inner) => findAnywhere(inner, settings));
      // By where they stand in the text, not by how they were found.
      const direction = prefer === 'first' ? 1 : -1;
      yield* prefer === undefined
        ? findAnywhere(text, settings, inEnvelopes)
        : [...findAnywhere(text, settings)].sort((left, right) => direction * (left.start - right.start));
      yield* inEnvelopes();
      return;
    }
    case 'generic':
      yield* findGeneric(text, settings);
      yield* findInEnvelopes(rejected, (inner) => findGeneric(inner, settings));
      return;
    case 'tagged':
      yield* findLastTag(text, settings);
      return;
    case 'unified':
      yield* findUnified(text, settings);
  }
}
