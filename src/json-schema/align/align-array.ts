import { isJsonObject } from '../json-schema.js';
import type { AlignmentChange } from '../../json/index.js';
import type { AlignmentView, Conjunction } from '../views/schema-views.js';
import type { Aligning, Place, AlignmentRule, Outcome } from './rules.js';
import { chooseBySpelling } from '../text/choices.js';
import { foldCase, splitWords } from '../text/spelling.js';
import { matchKeys, mayHoldAnswer } from '../text/key-spelling.js';
import { readJsonText, saysNull } from '../text/plain-values.js';
import { readNumber } from '../text/numbers.js';
import { changed, combineOutcomes, unchanged } from './rules.js';
import { findItems, placeValues } from './several-values.js';

/** Aligns a value to a list: its items one by one, or another shape to a list of them. */
export function alignArray(aligning: Aligning, view: AlignmentView, value: unknown, place: Place): Outcome {
  if (Array.isArray(value)) return alignItems(aligning, view, value, place);
  for (const reading of listReadings(aligning, view, value, place)) {
    if (!aligning.mayTry()) break;
    const inner = aligning.align(view, reading.value, place);
    if (aligning.passes(view, inner.value))
      return combineOutcomes(changed(place.path, reading.rule, value, reading.value), inner);
  }
  return unchanged(value);
}

function alignItems(aligning: Aligning, view: AlignmentView, items: readonly unknown[], place: Place): Outcome {
  const changes: AlignmentChange[] = [];
  let cost = 0;
  const views = new Map<Conjunction, AlignmentView>();
  const aligned = items.map((item, index) => {
    const nodes = view.prefix[index] ?? view.items;
    if (nodes.length === 0) return item;
    const itemView = views.get(nodes) ?? aligning.getView(nodes, '');
    views.set(nodes, itemView);
    if (aligning.passes(itemView, item)) return item;
    const outcome = aligning.align(itemView, item, { path: [...place.path, index], isElement: true });
    changes.push(...outcome.changes);
    cost += outcome.cost;
    return outcome.value;
  });
  return changes.length === 0 ? { ...unchanged(items), cost } : { value: aligned, changes, cost };
}

/** The lists that another kind of value may represent, most likely first. */
function* listReadings(
  aligning: Aligning,
  view: AlignmentView,
  value: unknown,
  place: Place,
): Generator<{ value: unknown[]; rule: AlignmentRule }> {
  if (typeof value === 'string') {
    const read = readJsonText(value);
    if (Array.isArray(read)) yield { value: read, rule: 'json_text' };
    const split = splitText(aligning.getView(view.items, ''), value);
    if (split !== undefined) yield { value: split, rule: 'text_to_list' };
  }
  if (isJsonObject(value)) {
    const inner = findSoleInnerValue(value);
    const isItemKey = inner !== undefined && aligning.getView(view.items, '').properties.has(inner.key);
    if (inner !== undefined && !isItemKey && Array.isArray(inner.value))
      yield { value: inner.value, rule: 'unwrapped' };
  }
  if (place.isElement || !mayBeItem(aligning, view, value)) return;
  const items = place.path.length === 0 ? collectItems(aligning, view, value) : [value];
  if (items !== undefined) yield { value: items, rule: items.length > 1 ? 'values_to_list' : 'item_to_list' };
}

/** The given item together with the other values of the text; undefined if it is unclear which values belong to the list. */
function collectItems(aligning: Aligning, view: AlignmentView, value: unknown): unknown[] | undefined {
  const { source } = aligning;
  if (source === undefined || placeValues(source).length < 2) return [value];
  const item = aligning.getView(view.items, '');
  let hasList = false;
  const items = findItems(source, (other) => {
    const isItem =
      aligning.mayTry() && aligning.passes(item, aligning.align(item, other, { path: [0], isElement: true }).value);
    // A list next to the items is the requested one.
    hasList ||= Array.isArray(other) && !isItem;
    return isItem;
  });
  if (items === undefined || hasList) return undefined;
  return items.length > 0 ? [...items] : [value];
}

/** `low, high` or `1, 2, 3`: every part must be a member or a plain number, so nothing is guessed. */
function splitText(item: AlignmentView, text: string): unknown[] | undefined {
  if (text.length > 1000) return undefined;
  const parts = text.split(/[,;|/、，；\n]|\s(?:and|und|et|y)\s|\s*&\s*/u).map((part) => part.trim());
  const said = parts.filter((part) => part !== '');
  if (said.length < 2) return undefined;
  if (item.members !== undefined) {
    const members = said.map((part) => chooseBySpelling(part, item.choices()));
    return members.every((member) => member !== undefined && member !== 'several')
      ? members.map((member) => member.value)
      : undefined;
  }
  const isNumeric = item.types.length === 1 && (item.types[0] === 'number' || item.types[0] === 'integer');
  // `1,5` may be one number, and `1/2` is one.
  if (!isNumeric || text.includes('/') || readNumber(text, item) !== undefined) return undefined;
  return said.every((part) => /^-?\d+(?:\.\d+)?$/.test(part)) ? said.map(Number) : undefined;
}

const SENTENCE = /[.!?。！？:：]\s*$|[\n\r]|[.!?。！？]\s/u;
const ENUMERATED = /[,;、，；](?:\s+(?:and|und|et|y)\s)?|\s(?:and|und|et|y)\s(?=[^,;]*$)/u;
const SEPARATED = /[,;|、，；•]|\s(?:and|or|und|oder)\s/iu;
/** First words of sentences that are not an item: refusals, apologies, statements about missing values. */
const OPENINGS = new Set(
  [
    'i im we you there this that it as sorry unfortunately no not none nothing unable cannot cant error failed please',
    'unknown empty see same various multiple several many all any every everything etc tbd todo pending unspecified',
    'unavailable refer ask depends varies default to 抱 无 没 我 暂 见',
  ]
    .join(' ')
    .split(' '),
);

/**
 * Whether a value may be the only item of a list. No value is not an empty list, and a sentence where a list of
 * texts is expected is more likely a refusal than an item: only a few words without punctuation are one, unless the items
 * have a form (enum, pattern, format) that a sentence would not meet.
 */
function mayBeItem(aligning: Aligning, view: AlignmentView, value: unknown): boolean {
  if (saysNull(value)) return false;
  const item = aligning.getView(view.items, '');
  if (isJsonObject(value)) return mayBeObjectItem(item, value);
  if (typeof value !== 'string') return true;
  if (item.members !== undefined || item.format !== undefined || item.parts.some((part) => 'pattern' in part))
    return true;
  // `1,200` may be one number here, or two.
  if (item.types.length > 0 && !item.types.includes('string')) return !value.includes(',') || /[{[]/.test(value);
  return !SENTENCE.test(value) && !SEPARATED.test(value) && mayBeginItem(value, 6);
}

/** A few words that do not begin like a sentence. */
function mayBeginItem(text: string, mostWords: number): boolean {
  const words = splitWords(text);
  if (words.length === 0 || words.length > mostWords) return false;
  return !OPENINGS.has(foldCase(words[0]?.text ?? '').replaceAll(/['’]/g, ''));
}

/**
 * `Ann, Bob and Carl` where only a list can be meant: a few words each. With digits it may be an address, a date or an amount.
 */
export function splitEnumeration(text: string): string[] | undefined {
  const items = text.split(ENUMERATED).map((item) => item.trim());
  if (items.length < 2 || SENTENCE.test(text) || /[\d"'()[\]{}]/.test(text)) return undefined;
  return items.every((item) => mayBeginItem(item, 3)) ? items : undefined;
}

/** An object that shares no key with the items, such as an error, is not one of them. */
function mayBeObjectItem(item: AlignmentView, value: Readonly<Record<string, unknown>>): boolean {
  const keys = Object.keys(value);
  if (item.groups.length > 0) return true;
  if (item.properties.size === 0) return keys.length > 0 && keys.every(mayHoldAnswer);
  const names = [...item.properties.keys()];
  return keys.some((key) => item.properties.has(key)) || matchKeys(keys, names).size > 0;
}

/** The content of an object that has a single key. */
function findSoleInnerValue(value: unknown): { readonly key: string; readonly value: unknown } | undefined {
  if (!isJsonObject(value)) return undefined;
  const [key, ...others] = Object.keys(value);
  if (key === undefined || others.length > 0 || !mayHoldAnswer(key)) return undefined;
  return { key, value: value[key] };
}
