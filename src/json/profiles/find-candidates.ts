import { surveyText } from '../find/survey.js';
import type { ParseOptions } from '../parse-options.js';
import type { SearchSettings } from '../search-settings.js';
import { findAnywhere, findLastTag, findMarked, findUnmarked, wholeCandidate } from './default-candidates.js';
import { findInEnvelopes } from './envelope-candidates.js';
import type { FoundCandidate, RejectedValue } from './found-candidate.js';
import { findGeneric, findUnified } from './strict-candidates.js';

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
  const inEnvelopes = (from: number): Generator<FoundCandidate> =>
    findInEnvelopes(rejected, from, (inner) => findAnywhere(inner, settings));
  switch (settings.profile) {
    case 'default': {
      if (prefer === undefined) {
        yield wholeCandidate(text, settings);
        const survey = surveyText(text);
        yield* findMarked(text, survey, settings);
        yield* inEnvelopes(0);
        const before = rejected.length;
        yield* findUnmarked(text, survey, settings);
        yield* inEnvelopes(before);
        return;
      }
      // By where they stand in the text, not by how they were found.
      const direction = prefer === 'first' ? 1 : -1;
      yield* [...findAnywhere(text, settings)].sort((left, right) => direction * (left.start - right.start));
      yield* inEnvelopes(0);
      return;
    }
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
