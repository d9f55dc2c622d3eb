import type { AlignableSchema, Alignment, AlignmentSource } from '../../json/index.js';
import type { CheckRun } from '../interpreter/check.js';
import type { SchemaChecks } from '../interpreter/compile-schema.js';
import { isJsonObject } from '../json-schema.js';
import { jsonEquals } from '../json-values.js';
import { chooseBySpelling } from '../text/choices.js';
import { matchKeys } from '../text/key-spelling.js';
import { createDigitFinder } from '../text/source-digits.js';
import { alignArray } from './align-array.js';
import { alignObject } from './align-object.js';
import { alignScalar } from './align-scalar.js';
import { readBoldly } from '../loose/read-text.js';
import { unchanged } from './rules.js';
import type { Aligning, Outcome, Place } from './rules.js';
import type { AlignmentView, SchemaViews } from '../views/schema-views.js';

/** Alternatives, wrappers and other guesses one alignment may try. */
const MAX_ATTEMPTS = 20_000;
/** Values deeper than this are left as they are. */
const DEEPEST = 200;

const ROOT: Place = { path: [], isElement: false };

/**
 * Makes the aligner of a document: a pure function from a value to the nearest valid one, with every change. `steps`
 * bounds the validation in one alignment, where each level of the value checks everything below it again.
 */
export function createAligner(
  views: SchemaViews,
  checks: SchemaChecks,
  steps: number,
): Required<Pick<AlignableSchema['~sluice'], 'align' | 'readText'>> {
  return {
    align: (value, source) => attempt(value, source, (aligning) => aligning.align(views.root, value, ROOT)),
    readText: (text) =>
      attempt(text, { text, start: 0, end: text.length, candidates: [] }, (aligning) =>
        readBoldly(aligning, views.root, views.isKnownKey, text),
      ),
  };

  function attempt(
    value: unknown,
    source: AlignmentSource | undefined,
    read: (aligning: Aligning) => Outcome | undefined,
  ): Alignment {
    views.beginValue();
    try {
      const { value: aligned, changes } = read(startAligning(source)) ?? unchanged(value);
      return { value: aligned, changes };
    } catch (error) {
      // Only values far deeper than the readers allow get here: checking them exhausts the call stack.
      if (error instanceof RangeError) return { value, changes: [] };
      throw error;
    }
  }

  function startAligning(source: AlignmentSource | undefined): Aligning {
    const run: CheckRun = { steps, path: [], issues: undefined, explaining: 0 };
    const remembered = new Map<AlignmentView, Map<object, { place: Place; outcome: Outcome }>>();
    let attempts = MAX_ATTEMPTS;
    const aligning: Aligning = {
      allowance: run,
      source,
      findDigits: createDigitFinder(source?.text.slice(source.start, source.end)),
      align,
      passes,
      mayTry,
      getView: views.getView,
    };
    return aligning;

    function mayTry(): boolean {
      attempts -= 1;
      return attempts >= 0;
    }

    function passes(view: AlignmentView, value: unknown): boolean {
      return view.nodes.every((node) => checks(node).check(value, run, undefined)) && run.steps >= 0;
    }

    /** Alternatives share parts; without a cache, nested alternatives would take exponential time. */
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
      const alternatives = views.getAlternatives(view);
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

/**
 * Tries every alternative and chooses the cheapest. If two cost the same and give different values, the value is not
 * changed: the intended one is unknown.
 */
function alignChoice(
  aligning: Aligning,
  view: AlignmentView,
  alternatives: readonly AlignmentView[],
  value: unknown,
  place: Place,
): Outcome {
  let best: Outcome | undefined;
  let isTied = false;
  for (const alternative of discriminate(aligning, alternatives, value)) {
    if (!aligning.mayTry()) return unchanged(value);
    const outcome = aligning.align(alternative, value, place);
    if (!aligning.passes(view, outcome.value)) continue;
    if (best === undefined || outcome.cost < best.cost) {
      best = outcome;
      isTied = false;
    } else if (outcome.cost === best.cost && !jsonEquals(outcome.value, best.value)) {
      isTied = true;
    }
  }
  return best === undefined || isTied ? unchanged(value) : best;
}

/** Where a constant property discriminates the alternatives and the value names one, only that one is tried. */
function discriminate(
  aligning: Aligning,
  alternatives: readonly AlignmentView[],
  value: unknown,
): readonly AlignmentView[] {
  if (!isJsonObject(value)) return alternatives;
  const named = alternatives.filter((alternative) => namesConstant(aligning, alternative, value));
  return named.length === 1 ? named : alternatives;
}

function namesConstant(aligning: Aligning, view: AlignmentView, value: Readonly<Record<string, unknown>>): boolean {
  const keys = Object.keys(value);
  const renamed = matchKeys(keys, [...view.properties.keys()]);
  return keys.some((key) => {
    const name = renamed.get(key) ?? key;
    const nodes = view.properties.get(name);
    const property = nodes === undefined ? undefined : aligning.getView(nodes, name);
    const text = value[key];
    if (property?.members?.length !== 1 || typeof text !== 'string') return false;
    const chosen = chooseBySpelling(text, property.choices());
    return chosen !== undefined && chosen !== 'several';
  });
}
