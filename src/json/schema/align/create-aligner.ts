import type { AlignableSchema, Alignment, AlignmentSource } from '../../index.js';
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
import { readText } from '../notations/read-text.js';
import { keepValue } from './rules.js';
import type { AlignmentContext, Outcome, ValueLocation } from './rules.js';
import type { AlignmentView, SchemaViews } from '../views/schema-views.js';

/** Maximum number of alternatives, wrappers and other readings tried in one alignment. */
const MAX_ATTEMPTS = 20_000;
/** Values nested deeper than this are left unchanged. */
const MAX_DEPTH = 200;

const ROOT: ValueLocation = { path: [], isElement: false };

/**
 * Creates a document's aligner: a pure function from a value to the nearest valid value and the list of changes.
 * `steps` bounds the validation in one alignment: each level of the value rechecks everything below it.
 */
export function createAligner(
  views: SchemaViews,
  checks: SchemaChecks,
  steps: number,
): Required<Pick<AlignableSchema['~sluice'], 'align' | 'readText' | 'findItem'>> {
  return {
    align: (value, source) => alignSafely(value, source, (context) => context.align(views.root, value, ROOT)),
    readText: (text) =>
      alignSafely(text, { text, start: 0, end: text.length, candidates: [] }, (context) =>
        readText(context, views.root, views.isKnownKey, text),
      ),
    findItem: (list, candidates) => (Array.isArray(list) ? candidates.find(isItem)?.start : undefined),
  };

  /** Whether a candidate is an object that on its own would form a single-item list. */
  function isItem({ read }: AlignmentSource['candidates'][number]): boolean {
    const reading = read();
    if (!reading.ok || !isJsonObject(reading.value)) return false;
    const { changes } = alignSafely(reading.value, undefined, (context) => {
      const aligned = context.align(views.root, reading.value, ROOT);
      return context.passes(views.root, aligned.value) ? aligned : undefined;
    });
    return changes[0]?.rule === 'item_to_list';
  }

  function alignSafely(
    value: unknown,
    source: AlignmentSource | undefined,
    read: (context: AlignmentContext) => Outcome | undefined,
  ): Alignment {
    views.startValue();
    try {
      const { value: aligned, changes } = read(createContext(source)) ?? keepValue(value);
      return { value: aligned, changes };
    } catch (error) {
      // Only values far deeper than the readers allow get here: checking them exhausts the call stack.
      if (error instanceof RangeError) return { value, changes: [] };
      throw error;
    }
  }

  function createContext(source: AlignmentSource | undefined): AlignmentContext {
    const run: CheckRun = { steps, path: [], issues: undefined, explaining: 0 };
    const cache = new Map<AlignmentView, Map<object, { location: ValueLocation; outcome: Outcome }>>();
    let attempts = MAX_ATTEMPTS;
    const context: AlignmentContext = {
      allowance: run,
      source,
      findDigits: createDigitFinder(source?.text.slice(source.start, source.end)),
      align,
      passes,
      useAttempt,
      getView: views.getView,
    };
    return context;

    function useAttempt(): boolean {
      attempts -= 1;
      return attempts >= 0;
    }

    function passes(view: AlignmentView, value: unknown): boolean {
      return view.nodes.every((node) => checks(node).check(value, run, undefined)) && run.steps >= 0;
    }

    /** Alternatives share parts; without a cache, nested alternatives would take exponential time. */
    function align(view: AlignmentView, value: unknown, location: ValueLocation): Outcome {
      if (typeof value !== 'object' || value === null) return alignOnce(view, value, location);
      const outcomes = cache.get(view) ?? new Map<object, { location: ValueLocation; outcome: Outcome }>();
      cache.set(view, outcomes);
      const cached = outcomes.get(value);
      if (cached !== undefined && isSameLocation(cached.location, location)) return cached.outcome;
      const outcome = alignOnce(view, value, location);
      outcomes.set(value, { location, outcome });
      return outcome;
    }

    function alignOnce(view: AlignmentView, value: unknown, location: ValueLocation): Outcome {
      if (location.path.length > MAX_DEPTH || run.steps < 0 || passes(view, value)) return keepValue(value);
      const alternatives = views.getAlternatives(view);
      if (alternatives !== undefined) return alignChoice(context, view, alternatives, value, location);
      switch (view.types[0]) {
        case undefined:
          return keepValue(value);
        case 'array':
          return alignArray(context, view, value, location);
        case 'object':
          return alignObject(context, view, value, location);
        default:
          return alignScalar(context, view, value, location);
      }
    }
  }
}

function isSameLocation(left: ValueLocation, right: ValueLocation): boolean {
  if (left.isElement !== right.isElement || left.path.length !== right.path.length) return false;
  return left.path.every((step, index) => step === right.path[index]);
}

/**
 * Tries every alternative and chooses the cheapest. If two cost the same and produce different values, the value is not
 * changed, because the intent is unknown.
 */
function alignChoice(
  context: AlignmentContext,
  view: AlignmentView,
  alternatives: readonly AlignmentView[],
  value: unknown,
  location: ValueLocation,
): Outcome {
  let best: Outcome | undefined;
  let isTied = false;
  for (const alternative of discriminate(context, alternatives, value)) {
    if (!context.useAttempt()) return keepValue(value);
    const outcome = context.align(alternative, value, location);
    if (!context.passes(view, outcome.value)) continue;
    if (best === undefined || outcome.cost < best.cost) {
      best = outcome;
      isTied = false;
    } else if (outcome.cost === best.cost && !jsonEquals(outcome.value, best.value)) {
      isTied = true;
    }
  }
  return best === undefined || isTied ? keepValue(value) : best;
}

/** If a constant property discriminates the alternatives and the value names one, only that alternative is tried. */
function discriminate(
  context: AlignmentContext,
  alternatives: readonly AlignmentView[],
  value: unknown,
): readonly AlignmentView[] {
  if (!isJsonObject(value)) return alternatives;
  const named = alternatives.filter((alternative) => namesConstant(context, alternative, value));
  return named.length === 1 ? named : alternatives;
}

function namesConstant(
  context: AlignmentContext,
  view: AlignmentView,
  value: Readonly<Record<string, unknown>>,
): boolean {
  const keys = Object.keys(value);
  const renamed = matchKeys(keys, [...view.properties.keys()]);
  return keys.some((key) => {
    const name = renamed.get(key) ?? key;
    const nodes = view.properties.get(name);
    const property = nodes === undefined ? undefined : context.getView(nodes, name);
    const text = value[key];
    if (property?.members?.length !== 1 || typeof text !== 'string') return false;
    const chosen = chooseBySpelling(text, property.choices());
    return chosen !== undefined && chosen !== 'several';
  });
}
