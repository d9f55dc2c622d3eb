import { isJsonObject } from '../json-schema.js';
import { jsonEquals } from '../json-equality.js';
import type { AlignmentView } from './alignment-view.js';
import type { Aligning, Place } from './aligning.js';
import { chooseBySpelling } from './choice-text.js';
import { matchKeys } from './key-spelling.js';
import { unchanged } from './rules.js';
import type { Outcome } from './rules.js';

/**
 * Tries every alternative and takes the one that costs least. Two that cost the same and give different values leave
 * the value alone: nobody said which one is meant.
 */
export function alignChoice(
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

/** Where a constant property tells the alternatives apart and the value names one, only that one is tried. */
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
    const property = nodes === undefined ? undefined : aligning.viewOf(nodes, name);
    const text = value[key];
    if (property?.members?.length !== 1 || typeof text !== 'string') return false;
    const chosen = chooseBySpelling(text, property.choices());
    return chosen !== undefined && chosen !== 'several';
  });
}
