import type { Path } from '../../json/index.js';
import type { AlignmentView, Conjunction } from './alignment-view.js';
import type { Outcome } from './rules.js';

/** Where a value stands. */
export interface Place {
  readonly path: Path;
  /** An element of a list is never made a list itself: nobody could tell `[[1], [2]]` from `[[1, 2]]`. */
  readonly isElement: boolean;
}

/** One alignment under way: what the rules for the kinds of values need from each other. */
export interface Aligning {
  /** Brings a value as near to the view as the rules can. */
  readonly align: (view: AlignmentView, value: unknown, place: Place) => Outcome;
  /** Tells whether a value is valid now. */
  readonly passes: (view: AlignmentView, value: unknown) => boolean;
  readonly viewOf: (nodes: Conjunction, key: string) => AlignmentView;
  /** Takes one from the allowance of attempts; false when it is used up. */
  readonly mayTry: () => boolean;
}
