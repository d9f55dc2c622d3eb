import type { Profile } from '../../src/json/index.js';

/** Profile descriptions. */
export const PROFILES: Readonly<Record<Profile, string>> = {
  default: 'Finds the answer anywhere (tags, fences, envelopes, prose) and repairs its syntax.',
  generic: 'Reads the whole output, an envelope, a fence or the first object. Repairs nothing.',
  tagged: 'Reads only the last <json> block. Without one, the output becomes a comment.',
  unified:
    'Reads the whole output, a fence or the first object. The value must be an object, and only control characters are repaired.',
};

/** Whether a profile has this name. */
export function isProfile(name: string): name is Profile {
  return Object.hasOwn(PROFILES, name);
}
