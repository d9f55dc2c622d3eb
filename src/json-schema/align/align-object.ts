import { isJsonObject, getOwnValue, setOwnValue } from '../json-schema.js';
import type { AlignmentChange } from '../../json/index.js';
import { listSchemasForKey } from '../views/schema-views.js';
import type { AlignmentView } from '../views/schema-views.js';
import { findItems, placeValues } from './several-values.js';
import type { Aligning, Place, AlignmentRule, Outcome } from './rules.js';
import { readJsonText, saysNull } from '../text/plain-values.js';
import { isOtherCurrency } from '../text/numbers.js';
import { findRepeatedKeys, matchKeys, mayHoldAnswer } from '../text/key-spelling.js';
import { changed, combineOutcomes, RULE_COSTS, unchanged, UNKNOWN_KEY_COST } from './rules.js';

/** Aligns a value to an object: its keys one by one, or another shape around or inside it. */
export function alignObject(aligning: Aligning, view: AlignmentView, value: unknown, place: Place): Outcome {
  const fields = isJsonObject(value) ? alignFields(aligning, view, value, place) : unchanged(value);
  if (isJsonObject(value) && aligning.passes(view, fields.value)) return fields;
  for (const reading of objectReadings(aligning, view, value, place)) {
    if (!aligning.mayTry()) break;
    const inner = aligning.align(view, reading.value, place);
    if (!aligning.passes(view, inner.value)) continue;
    return combineOutcomes(changed(place.path, reading.rule, value, reading.value), inner);
  }
  return fields;
}

const NONE: ReadonlySet<string> = new Set();

function alignFields(
  aligning: Aligning,
  view: AlignmentView,
  value: Readonly<Record<string, unknown>>,
  place: Place,
): Outcome {
  const renamed = matchKeys(Object.keys(value), namesDue(aligning, view));
  const known = Object.keys(value).filter((key) => view.properties.has(renamed.get(key) ?? key)).length;
  const repeated = view.isClosed ? findRepeatedKeys(value, [...view.properties.keys()]) : NONE;
  const changes: AlignmentChange[] = [];
  const aligned: Record<string, unknown> = {};
  let cost = 0;
  for (const key of Object.keys(value)) {
    const name = renamed.get(key) ?? key;
    const path = [...place.path, name];
    if (name !== key) {
      changes.push({ path: [...place.path, key], rule: 'key_spelling', from: key, to: name });
      cost += RULE_COSTS.key_spelling;
    }
    const mayDrop = known > 0 && !repeated.has(key);
    const field = alignField(aligning, view, name, value[key], { path, isElement: false }, mayDrop);
    changes.push(...field.changes);
    cost += field.cost;
    if (field.value !== undefined) setOwnValue(aligned, name, field.value);
  }
  const words = Object.values(value).filter((word) => typeof word === 'string');
  const isInDoubt = changes.some(
    ({ rule, from }) => rule === 'number_notation' && isOtherCurrency(String(from), words),
  );
  return changes.length === 0 || isInDoubt ? { ...unchanged(value), cost } : { value: aligned, changes, cost };
}

/** One value under its key; the value `undefined` means that the key is left out. */
function alignField(
  aligning: Aligning,
  view: AlignmentView,
  name: string,
  value: unknown,
  place: Place,
  mayDrop: boolean,
): Outcome {
  const nodes = listSchemasForKey(view, name, aligning.allowance);
  if (nodes === undefined) return mayDrop ? changed(place.path, 'extra_key', value, undefined) : unchanged(value);
  const isUnknown = !view.properties.has(name) && nodes.length === 0 && view.properties.size > 0;
  if (isUnknown) return { ...unchanged(value), cost: UNKNOWN_KEY_COST };
  const fieldView = aligning.getView(nodes, name);
  if (aligning.passes(fieldView, value)) return unchanged(value);
  const outcome = aligning.align(fieldView, value, place);
  const isAbsent =
    view.properties.has(name) &&
    !view.required.has(name) &&
    saysNull(value) &&
    !aligning.passes(fieldView, outcome.value);
  return isAbsent ? changed(place.path, 'null_as_absent', value, undefined) : outcome;
}

/** The names keys may mean: the properties, or the members a map's keys are limited to. */
function namesDue(aligning: Aligning, view: AlignmentView): readonly string[] {
  const limited = view.parts.flatMap((part) => {
    const names = part['propertyNames'];
    return isJsonObject(names) ? (aligning.getView([names], '').members ?? []).map((member) => member.value) : [];
  });
  return [...new Set([...view.properties.keys(), ...limited.filter((name) => typeof name === 'string')])];
}

/** The objects that another kind of value may represent, most likely first. */
function* objectReadings(
  aligning: Aligning,
  view: AlignmentView,
  value: unknown,
  place: Place,
): Generator<{ value: unknown; rule: AlignmentRule }> {
  if (typeof value === 'string') {
    const read = readJsonText(value);
    if (read !== undefined) yield { value: read, rule: 'json_text' };
    return;
  }
  if (Array.isArray(value) && value.length === 1 && /object|string/.test(typeof value[0]))
    yield { value: value[0], rule: 'list_to_item' };
  if (isJsonObject(value)) {
    const inner = findInnerObject(view, value);
    if (inner !== undefined) yield { value: inner, rule: 'unwrapped' };
  }
  const outer = withOnlyKey(aligning, view, value);
  if (outer !== undefined) yield { value: outer, rule: 'wrapped' };
  const { source } = aligning;
  if (place.path.length > 0 || source === undefined || placeValues(source).length < 2) return;
  const values = findItems(source, () => true);
  const list = values === undefined ? undefined : withOnlyKey(aligning, view, values);
  if (list !== undefined) yield { value: list, rule: 'values_to_list' };
}

/**
 * The only object inside an object that has none of the properties itself. If there are other keys, it must be the only
 * candidate and the schema must require something; otherwise an empty object would pass.
 */
function findInnerObject(view: AlignmentView, value: Readonly<Record<string, unknown>>): unknown {
  const keys = Object.keys(value);
  if (matchKeys(keys, [...view.properties.keys()]).size > 0 || keys.some((key) => view.properties.has(key)))
    return undefined;
  const inner = keys.filter((key) => mayHoldAnswer(key) && hasKnownKey(view, value[key]));
  const [only] = inner;
  if (only === undefined || inner.length > 1) return undefined;
  return keys.length === 1 || view.required.size > 0 ? value[only] : undefined;
}

/** Looks for a property in a value, through lists of one, strings of JSON and a few more wrappers. */
function hasKnownKey(view: AlignmentView, value: unknown, depth = 0): boolean {
  if (depth > 3) return false;
  if (typeof value === 'string') {
    const read = readJsonText(value);
    return read !== undefined && hasKnownKey(view, read, depth + 1);
  }
  if (Array.isArray(value)) return value.length === 1 && hasKnownKey(view, value[0], depth + 1);
  if (!isJsonObject(value)) return false;
  const keys = Object.keys(value);
  if (keys.some((key) => view.properties.has(key)) || matchKeys(keys, [...view.properties.keys()]).size > 0)
    return true;
  return keys.some((key) => mayHoldAnswer(key) && hasKnownKey(view, getOwnValue(value, key), depth + 1));
}

/** A list or object that only one property of the schema could hold: nothing else is required, nothing else fits. */
function withOnlyKey(aligning: Aligning, view: AlignmentView, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const holders = [...view.properties].filter(([name, nodes]) => {
    const { types } = aligning.getView(nodes, name);
    return Array.isArray(value) ? types.includes('array') : types.includes('object');
  });
  const [only] = holders;
  if (only === undefined || holders.length > 1) return undefined;
  const [name, nodes] = only;
  if (!view.required.has(name) || view.required.size > 1) return undefined;
  if (isJsonObject(value)) {
    if (matchKeys(Object.keys(value), [...view.properties.keys()]).size > 0) return undefined;
    const inner = aligning.getView(nodes, name);
    if (Object.keys(value).some((key) => view.properties.has(key)) || !hasKnownKey(inner, value, 3)) return undefined;
  }
  return Object.fromEntries([[name, value]]);
}
