import { isJsonObject, getOwnValue, setOwnValue } from '../json-schema.js';
import type { AlignmentChange } from '../../index.js';
import { listSchemasForKey } from '../views/schema-views.js';
import type { AlignmentView } from '../views/schema-views.js';
import { findItems, listValues } from './several-values.js';
import type { AlignmentContext, ValueLocation, AlignmentRule, Outcome } from './rules.js';
import { readJsonText, isNullText } from '../text/plain-values.js';
import { isOtherCurrency, listNamedCurrencies } from '../text/numbers.js';
import { findRepeatedKeys, matchKeys, mayContainAnswer } from '../text/key-spelling.js';
import { createChange, combineOutcomes, RULE_COSTS, keepValue, UNKNOWN_KEY_COST } from './rules.js';

/** Aligns a value to an object: its keys one by one, or another shape around or inside it. */
export function alignObject(
  context: AlignmentContext,
  view: AlignmentView,
  value: unknown,
  location: ValueLocation,
): Outcome {
  const fields = isJsonObject(value) ? alignFields(context, view, value, location) : keepValue(value);
  if (isJsonObject(value) && context.passes(view, fields.value)) return fields;
  for (const reading of listObjectReadings(context, view, value, location)) {
    if (!context.useAttempt()) break;
    const inner = context.align(view, reading.value, location);
    if (!context.passes(view, inner.value)) continue;
    return combineOutcomes(createChange(location.path, reading.rule, value, reading.value), inner);
  }
  return fields;
}

const NONE: ReadonlySet<string> = new Set();

function alignFields(
  context: AlignmentContext,
  view: AlignmentView,
  value: Readonly<Record<string, unknown>>,
  location: ValueLocation,
): Outcome {
  const namesByKey = matchKeys(Object.keys(value), listPossibleNames(context, view));
  const known = Object.keys(value).filter((key) => view.properties.has(namesByKey.get(key) ?? key)).length;
  const repeatedKeys = view.isClosed ? findRepeatedKeys(value, [...view.properties.keys()]) : NONE;
  const changes: AlignmentChange[] = [];
  const aligned: Record<string, unknown> = {};
  let cost = 0;
  for (const key of Object.keys(value)) {
    const name = namesByKey.get(key) ?? key;
    const path = [...location.path, name];
    if (name !== key) {
      changes.push({ path: [...location.path, key], rule: 'key_spelling', from: key, to: name });
      cost += RULE_COSTS.key_spelling;
    }
    const canDrop = known > 0 && !repeatedKeys.has(key);
    const field = alignField(context, view, name, value[key], { path, isElement: false }, canDrop);
    changes.push(...field.changes);
    cost += field.cost;
    if (field.value !== undefined) setOwnValue(aligned, name, field.value);
  }
  // A set of codes, because each amount is compared with all of them.
  const words = new Set(listNamedCurrencies(Object.values(value).filter((word) => typeof word === 'string')));
  const isInDoubt = changes.some(
    ({ rule, from }) => rule === 'number_notation' && isOtherCurrency(String(from), words),
  );
  return changes.length === 0 || isInDoubt ? { ...keepValue(value), cost } : { value: aligned, changes, cost };
}

/** Aligns the value of a key; `undefined` means that the key is omitted. */
function alignField(
  context: AlignmentContext,
  view: AlignmentView,
  name: string,
  value: unknown,
  location: ValueLocation,
  canDrop: boolean,
): Outcome {
  const nodes = listSchemasForKey(view, name, context.allowance);
  if (nodes === undefined)
    return canDrop ? createChange(location.path, 'extra_key', value, undefined) : keepValue(value);
  const isUnknown = !view.properties.has(name) && nodes.length === 0 && view.properties.size > 0;
  if (isUnknown) return { ...keepValue(value), cost: UNKNOWN_KEY_COST };
  const fieldView = context.getView(nodes, name);
  if (context.passes(fieldView, value)) return keepValue(value);
  const outcome = context.align(fieldView, value, location);
  const isAbsent =
    view.properties.has(name) &&
    !view.required.has(name) &&
    isNullText(value) &&
    !context.passes(fieldView, outcome.value);
  return isAbsent ? createChange(location.path, 'null_as_absent', value, undefined) : outcome;
}

/** Lists the names that keys can stand for: the properties, or the names that a map's keys are limited to. */
function listPossibleNames(context: AlignmentContext, view: AlignmentView): readonly string[] {
  const allowedNames = view.parts.flatMap((part) => {
    const names = part['propertyNames'];
    return isJsonObject(names) ? (context.getView([names], '').members ?? []).map((member) => member.value) : [];
  });
  return [...new Set([...view.properties.keys(), ...allowedNames.filter((name) => typeof name === 'string')])];
}

/** Lists the objects that another kind of value could represent, most likely first. */
function* listObjectReadings(
  context: AlignmentContext,
  view: AlignmentView,
  value: unknown,
  location: ValueLocation,
): Generator<{ value: unknown; rule: AlignmentRule }> {
  if (typeof value === 'string') {
    const parsed = readJsonText(value);
    if (parsed !== undefined) yield { value: parsed, rule: 'json_text' };
    return;
  }
  if (Array.isArray(value) && value.length === 1 && /object|string/.test(typeof value[0]))
    yield { value: value[0], rule: 'list_to_item' };
  if (isJsonObject(value)) {
    const inner = findInnerObject(view, value);
    if (inner !== undefined) yield { value: inner, rule: 'unwrapped' };
  }
  const outer = wrapInOnlyKey(context, view, value);
  if (outer !== undefined) yield { value: outer, rule: 'wrapped' };
  const { source } = context;
  if (location.path.length > 0 || source === undefined || listValues(source).length < 2) return;
  const values = findItems(source, () => true);
  const list = values === undefined ? undefined : wrapInOnlyKey(context, view, values);
  if (list !== undefined) yield { value: list, rule: 'values_to_list' };
}

/**
 * Finds the only object inside an object that has none of the properties itself. If other keys exist, it must be the
 * only candidate and the schema must require something; otherwise an empty object would pass.
 */
function findInnerObject(view: AlignmentView, value: Readonly<Record<string, unknown>>): unknown {
  const keys = Object.keys(value);
  if (matchKeys(keys, [...view.properties.keys()]).size > 0 || keys.some((key) => view.properties.has(key)))
    return undefined;
  const inner = keys.filter((key) => mayContainAnswer(key) && hasKnownKey(view, value[key]));
  const [only] = inner;
  if (only === undefined || inner.length > 1) return undefined;
  return keys.length === 1 || view.required.size > 0 ? value[only] : undefined;
}

/**
 * Whether a value has a known property, directly or inside single-item lists, JSON strings and a few other wrappers.
 */
function hasKnownKey(view: AlignmentView, value: unknown, depth = 0): boolean {
  if (depth > 3) return false;
  if (typeof value === 'string') {
    const parsed = readJsonText(value);
    return parsed !== undefined && hasKnownKey(view, parsed, depth + 1);
  }
  if (Array.isArray(value)) return value.length === 1 && hasKnownKey(view, value[0], depth + 1);
  if (!isJsonObject(value)) return false;
  const keys = Object.keys(value);
  if (keys.some((key) => view.properties.has(key)) || matchKeys(keys, [...view.properties.keys()]).size > 0)
    return true;
  return keys.some((key) => mayContainAnswer(key) && hasKnownKey(view, getOwnValue(value, key), depth + 1));
}

/** Wraps a list or object in the only property of the schema that can contain it, if nothing else is required. */
function wrapInOnlyKey(context: AlignmentContext, view: AlignmentView, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const candidates = [...view.properties].filter(([name, nodes]) => {
    const { types } = context.getView(nodes, name);
    return Array.isArray(value) ? types.includes('array') : types.includes('object');
  });
  const [only] = candidates;
  if (only === undefined || candidates.length > 1) return undefined;
  const [name, nodes] = only;
  if (!view.required.has(name) || view.required.size > 1) return undefined;
  if (isJsonObject(value)) {
    if (matchKeys(Object.keys(value), [...view.properties.keys()]).size > 0) return undefined;
    const inner = context.getView(nodes, name);
    if (Object.keys(value).some((key) => view.properties.has(key)) || !hasKnownKey(inner, value, 3)) return undefined;
  }
  return Object.fromEntries([[name, value]]);
}
