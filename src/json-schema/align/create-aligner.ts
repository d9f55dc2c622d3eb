import type { Alignment } from '../../json/index.js';
import type { CheckRun } from '../interpreter/check.js';
import type { SchemaChecks } from '../interpreter/compile-schema.js';
import { alignArray } from './align-array.js';
import { alignChoice } from './align-choice.js';
import { alignObject } from './align-object.js';
import { alignScalar } from './align-scalar.js';
import type { AlignmentView } from './alignment-view.js';
import type { Aligning, Place } from './aligning.js';
import { unchanged } from './rules.js';
import type { Outcome } from './rules.js';
import type { SchemaViews } from './schema-views.js';

/** Alternatives, wrappers and other guesses one alignment may try. */
const MOST_ATTEMPTS = 20_000;
/** Values deeper than this are left as they are. */
const DEEPEST = 200;

/**
 * Makes the aligner of a document: a pure function from a value to the nearest valid one, with every change. `steps`
 * bounds the validation in one alignment, where each level of the value checks everything below it again.
 */
export function createAligner(views: SchemaViews, checks: SchemaChecks, steps: number): (value: unknown) => Alignment {
  return (value) => {
    views.beginValue();
    try {
      const { value: aligned, changes } = startAligning().align(views.root, value, { path: [], isElement: false });
      return { value: aligned, changes };
    } catch (error) {
      // Only values far deeper than the readers allow get here: checking them exhausts the call stack.
      if (error instanceof RangeError) return { value, changes: [] };
      throw error;
    }
  };

  function startAligning(): Aligning {
    const run: CheckRun = { steps, path: [], issues: undefined, explaining: 0 };
    const remembered = new Map<AlignmentView, Map<object, { place: Place; outcome: Outcome }>>();
    let attempts = MOST_ATTEMPTS;
    const aligning: Aligning = { align, passes, mayTry, viewOf: views.viewOf };
    return aligning;

    function mayTry(): boolean {
      attempts -= 1;
      return attempts >= 0;
    }

    function passes(view: AlignmentView, value: unknown): boolean {
      return view.nodes.every((node) => checks(node).check(value, run, undefined)) && run.steps >= 0;
    }

    /** Alternatives share what is inside them; without remembering it, nested ones would cost a power of their number. */
    function align(view: AlignmentView, value: unknown, place: Place): Outcome {
      if (typeof value !== 'object' || value === null) return alignOnce(view, value, place);
      const known = remembered.get(view) ?? new Map<object, { place: Place; outcome: Outcome }>();
      remembered.set(view, known);
      const before = known.get(value);
      if (before !== undefined && isSamePlace(before.place, place)) return before.outcome;
      const outcome = alignOnce(view, value, place);
      known.set(value, { place, outcome });
      return outcome;
    }

    function alignOnce(view: AlignmentView, value: unknown, place: Place): Outcome {
      if (place.path.length > DEEPEST || run.steps < 0 || passes(view, value)) return unchanged(value);
      const alternatives = views.alternativesOf(view);
      if (alternatives !== undefined) return alignChoice(aligning, view, alternatives, value, place);
      switch (view.types[0]) {
        case undefined:
          return unchanged(value);
        case 'array':
          return alignArray(aligning, view, value, place);
        case 'object':
          return alignObject(aligning, view, value, place);
        default:
          return alignScalar(aligning, view, value, place);
      }
    }
  }
}

function isSamePlace(left: Place, right: Place): boolean {
  if (left.isElement !== right.isElement || left.path.length !== right.path.length) return false;
  return left.path.every((step, index) => step === right.path[index]);
}
