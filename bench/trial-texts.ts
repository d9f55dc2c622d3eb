import { HOSTILE_INPUTS } from './hostile-inputs.js';
import { makeProse, VERDICT } from './prose.js';

/** A text for a trial, and the right value; without one, any value or error is accepted. */
export interface TrialText {
  readonly make: () => string;
  readonly value?: unknown;
  readonly depth?: number;
}

/** The prose texts in which peers must find the one object. */
export const PROSE_TRIALS = ['prose 100 KB', 'prose 10 MB', 'noisy prose 10 MB'] as const;

/** All texts of trials, by name. */
export const TRIAL_TEXTS: ReadonlyMap<string, TrialText> = new Map<string, TrialText>([
  [PROSE_TRIALS[0], { make: () => makeProse(100_000, false, 5), value: VERDICT }],
  [PROSE_TRIALS[1], { make: () => makeProse(10_000_000, false, 5), value: VERDICT }],
  [PROSE_TRIALS[2], { make: () => makeProse(10_000_000, true, 5), value: VERDICT }],
  ...HOSTILE_INPUTS.map(({ name, size, make, depth }): [string, TrialText] => [
    name,
    depth === undefined ? { make: () => make(size) } : { make: () => make(size), depth: depth(size) },
  ]),
]);
