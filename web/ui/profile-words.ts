import type { Profile } from '../../src/json/index.js';

/** The profiles, each with its description. */
export const PROFILES: Readonly<Record<Profile, string>> = {
  default: 'Finds the answer anywhere (tags, fences, envelopes, prose) and repairs its syntax.',
  generic: 'The whole text, an envelope, a fence or the first object; nothing is repaired.',
  tagged: 'Only the last <json> block; without one, the text is kept as a comment.',
  unified:
    'The whole text, a fence or the first object; it must be an object, and only control characters are repaired.',
};

/** Whether a word is the name of a profile. */
export function isProfile(word: string): word is Profile {
  return Object.hasOwn(PROFILES, word);
}
