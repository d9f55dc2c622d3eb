import { ADVERSARIAL_INPUTS } from './adversarial-inputs.js';
import { makeProse, VERDICT } from './prose.js';

/** A trial input and its expected value; without one, any value or error is accepted. */
export interface TrialText {
  readonly make: () => string;
  readonly value?: unknown;
  readonly depth?: number;
}

/** The prose inputs in which peers must find the only object. */
export const PROSE_TRIALS = ['prose 100 KB', 'prose 10 MB', 'noisy prose 10 MB'] as const;

/** All trial inputs, by name. */
export const TRIAL_TEXTS: ReadonlyMap<string, TrialText> = new Map<string, TrialText>([
  [PROSE_TRIALS[0], { make: () => makeProse(100_000, false, 5), value: VERDICT }],
  [PROSE_TRIALS[1], { make: () => makeProse(10_000_000, false, 5), value: VERDICT }],
  [PROSE_TRIALS[2], { make: () => makeProse(10_000_000, true, 5), value: VERDICT }],
  ...ADVERSARIAL_INPUTS.map(({ name, size, make, depth }): [string, TrialText] => [
    name,
    depth === undefined ? { make: () => make(size) } : { make: () => make(size), depth: depth(size) },
  ]),
]);
