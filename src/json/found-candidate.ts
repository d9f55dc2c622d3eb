import type { Candidate } from './candidate.js';
import type { Reading } from './reader/read-value.js';

/** A candidate and the way to read it. Each reading gives a fresh value, so that nobody sees another's changes. */
export interface FoundCandidate extends Candidate {
  readonly read: (truncation: boolean) => Reading;
  /** Read without repairs, it counts as untouched: nothing had to be cut out. */
  readonly untouched?: boolean;
  /** A failure to read it says nothing about the text: it may just be prose. */
  readonly optional?: boolean;
  /** How many envelopes it was taken out of. */
  readonly level: number;
}

/** A value that was read but did not pass, and may be an envelope around the answer. */
export interface RejectedValue {
  readonly value: unknown;
  readonly candidate: Candidate;
  readonly level: number;
}
