import type { Candidate, FinderName } from '../candidate.js';
import type { Reading } from '../reader/read-value.js';

/** A candidate and the way to read it. Each reading gives a fresh value, so that nobody sees another's changes. */
export interface FoundCandidate extends Candidate {
  readonly read: () => Reading;
  /** What reading it gave before. To be taken once: the value is as fresh as any other. */
  readonly first: Reading | undefined;
  /** Read without repairs, it counts as untouched: nothing had to be cut out. */
  readonly untouched: boolean;
  /** How many envelopes it was taken out of. */
  readonly level: number;
}

/** A value that was read but did not pass, and may be an envelope around the answer. */
export interface RejectedValue {
  readonly value: unknown;
  readonly candidate: FoundCandidate;
}

/** A candidate as the finders make it. */
export function found(
  finder: FinderName,
  start: number,
  end: number,
  read: FoundCandidate['read'],
  untouched = false,
  first?: Reading,
  level = 0,
): FoundCandidate {
  return { finder, start, end, read, untouched, first, level };
}
