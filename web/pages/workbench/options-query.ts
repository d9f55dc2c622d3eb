import type { Profile } from '../../../src/json/index.js';
import { DEFAULT_OPTIONS } from './examples.js';
import type { WorkbenchOptions } from './inspection.js';

/** The profiles, each with what it is for. */
export const PROFILES: Readonly<Record<Profile, string>> = {
  default: 'Every finder, the tolerant reader. What any of the others would take, and more.',
  generic: 'Whole text, envelope, fence, first object; plain JSON only, nothing repaired.',
  tagged: 'The last <json> block and nothing else; without one the text is a comment.',
  unified: 'Closed thoughts and fences taken off; plain JSON with control characters; the root is an object.',
};

/** The options as they stand in the address. */
export function readOptions(query: URLSearchParams): WorkbenchOptions {
  const profile = query.get('profile') ?? '';
  const prefer = query.get('prefer');
  return {
    profile: isProfile(profile) ? profile : DEFAULT_OPTIONS.profile,
    allowPartial: query.get('partial') === 'yes',
    align: query.get('align') === 'yes',
    prefer: prefer === 'first' || prefer === 'last' ? prefer : null,
  };
}

/** The same for the address; what is as it always is stays out. */
export function writeOptions({
  profile,
  allowPartial,
  align,
  prefer,
}: WorkbenchOptions): Record<string, string | null> {
  return {
    profile: profile === DEFAULT_OPTIONS.profile ? null : profile,
    partial: allowPartial ? 'yes' : null,
    align: align ? 'yes' : null,
    prefer,
  };
}

/** Whether a word is the name of a profile. */
export function isProfile(word: string): word is Profile {
  return Object.hasOwn(PROFILES, word);
}
