import { FORMATS } from '../formats.js';
import { isJsonObject } from '../json-schema.js';
import type { AlignmentChange } from '../../index.js';
import type { AlignmentView, Conjunction } from '../views/schema-views.js';
import type { AlignmentContext, ValueLocation, AlignmentRule, Outcome } from './rules.js';
import { chooseBySpelling } from '../text/choices.js';
import { foldCase, splitWords } from '../text/spelling.js';
import { matchKeys, mayContainAnswer } from '../text/key-spelling.js';
import { readJsonText, isNullText } from '../text/plain-values.js';
import { readNumber } from '../text/numbers.js';
import { createChange, combineOutcomes, keepValue } from './rules.js';
import { findItems, listValues } from './several-values.js';

/** Aligns a value to a list: its items one by one, or another shape to a list of them. */
export function alignArray(
  context: AlignmentContext,
  view: AlignmentView,
  value: unknown,
  location: ValueLocation,
): Outcome {
  if (Array.isArray(value)) return alignItems(context, view, value, location);
  for (const reading of listReadings(context, view, value, location)) {
    if (!context.useAttempt()) break;
    const inner = context.align(view, reading.value, location);
    if (context.passes(view, inner.value))
      return combineOutcomes(createChange(location.path, reading.rule, value, reading.value), inner);
  }
  return keepValue(value);
}

function alignItems(
  context: AlignmentContext,
  view: AlignmentView,
  items: readonly unknown[],
  location: ValueLocation,
): Outcome {
  const changes: AlignmentChange[] = [];
  let cost = 0;
  const views = new Map<Conjunction, AlignmentView>();
  const aligned = items.map((item, index) => {
    const nodes = view.prefix[index] ?? view.items;
    if (nodes.length === 0) return item;
    const itemView = views.get(nodes) ?? context.getView(nodes, '');
    views.set(nodes, itemView);
    if (context.passes(itemView, item)) return item;
    const outcome = context.align(itemView, item, { path: [...location.path, index], isElement: true });
    changes.push(...outcome.changes);
    cost += outcome.cost;
    return outcome.value;
  });
  return changes.length === 0 ? { ...keepValue(items), cost } : { value: aligned, changes, cost };
}

/** Lists the arrays that another kind of value could represent, most likely first. */
function* listReadings(
  context: AlignmentContext,
  view: AlignmentView,
  value: unknown,
  location: ValueLocation,
): Generator<{ value: unknown[]; rule: AlignmentRule }> {
  if (typeof value === 'string') {
    const parsed = readJsonText(value);
    if (Array.isArray(parsed)) yield { value: parsed, rule: 'json_text' };
    const split = splitText(context, context.getView(view.items, ''), value);
    if (split !== undefined) yield { value: split, rule: 'text_to_list' };
  }
  if (isJsonObject(value)) {
    const inner = findSoleInnerValue(value);
    const isItemKey = inner !== undefined && context.getView(view.items, '').properties.has(inner.key);
    if (inner !== undefined && !isItemKey && Array.isArray(inner.value))
      yield { value: inner.value, rule: 'unwrapped' };
  }
  if (location.isElement || !canBeItem(context, view, value)) return;
  const items = location.path.length === 0 ? collectItems(context, view, value) : [value];
  if (items !== undefined) yield { value: items, rule: items.length > 1 ? 'values_to_list' : 'item_to_list' };
}

/** Collects this item and the other items in the input; undefined if it is unclear which values belong to the list. */
function collectItems(context: AlignmentContext, view: AlignmentView, value: unknown): unknown[] | undefined {
  const { source } = context;
  if (source === undefined || listValues(source).length < 2) return [value];
  const item = context.getView(view.items, '');
  let hasList = false;
  const items = findItems(source, (other) => {
    const isItem =
      context.useAttempt() && context.passes(item, context.align(item, other, { path: [0], isElement: true }).value);
    // A list next to the items is the requested one.
    hasList ||= Array.isArray(other) && !isItem;
    return isItem;
  });
  if (items === undefined || hasList) return undefined;
  return items.length > 0 ? [...items] : [value];
}

const SEPARATORS = /[,;|、，；\n]|\s(?:and|und|et|y)\s|\s&\s/u;
const MEMBER_SEPARATORS = /[,;|/、，；\n]|\s(?:and|und|et|y)\s|\s*&\s*/u;
const SELF_EVIDENT = ['email', 'uri'].map((format) => FORMATS.get(format));

/**
 * Splits `low, high`, `1, 2, 3` or `a@b.example; c@b.example`: every part must be a member, a plain number, an address,
 * or match a format or pattern that the whole string does not match, so nothing is guessed.
 */
function splitText(context: AlignmentContext, item: AlignmentView, text: string): unknown[] | undefined {
  if (text.length > 1000) return undefined;
  // A slash separates enum members; elsewhere it is content.
  const separators = item.members === undefined ? SEPARATORS : MEMBER_SEPARATORS;
  const parts = text.split(separators).map((part) => part.trim());
  const items = parts.filter((part) => part !== '');
  if (items.length < 2) return undefined;
  if (item.members !== undefined) {
    const members = items.map((part) => chooseBySpelling(part, item.choices()));
    return members.every((member) => member !== undefined && member !== 'several')
      ? members.map((member) => member.value)
      : undefined;
  }
  if (isSpecific(item)) {
    const isSplit = !context.passes(item, text) && items.every((part) => context.passes(item, part));
    return isSplit ? items : undefined;
  }
  // E-mail addresses and links need no other evidence.
  if (item.types[0] === 'string' && items.every((part) => SELF_EVIDENT.some((isValid) => isValid?.(part) === true)))
    return items;
  const isNumeric = item.types.length === 1 && (item.types[0] === 'number' || item.types[0] === 'integer');
  // `1,5` might be one number, and `1/2` is one.
  if (!isNumeric || text.includes('/') || readNumber(text, item).length > 0) return undefined;
  return items.every((part) => /^-?\d+(?:\.\d+)?$/.test(part)) ? items.map(Number) : undefined;
}

const SENTENCE = /[.!?。！？:：]\s*$|[\n\r]|[.!?。！？]\s/u;
const ENUMERATED = /[,;、，；](?:\s+(?:and|und|et|y)\s)?|\s(?:and|und|et|y)\s(?=[^,;]*$)/u;
const SEPARATED = /[,;|、，；•]|\s(?:and|or|und|oder)\s/iu;
/** `ENUMERATED` does not take linear time. */
const MAX_ENUMERATION_LENGTH = 5000;
/** First words of sentences that are not items: refusals, apologies, statements about missing values. */
const SENTENCE_OPENINGS = new Set(
  [
    'i im we you there this that it as sorry unfortunately no not none nothing unable cannot cant error failed please',
    'unknown empty see same various multiple several many all any every everything etc tbd todo pending unspecified',
    'unavailable refer ask depends varies default to 抱 无 没 我 暂 见',
  ]
    .join(' ')
    .split(' '),
);

/**
 * Whether a value could be the only item of a list. A missing value is not an empty list, and a sentence is more likely
 * a refusal than an item in a list of strings: only a few words without punctuation are an item, unless the items have
 * an enum, pattern or format, which a sentence would not match.
 */
function canBeItem(context: AlignmentContext, view: AlignmentView, value: unknown): boolean {
  if (isNullText(value)) return false;
  const item = context.getView(view.items, '');
  if (isJsonObject(value)) return canBeObjectItem(item, value);
  if (typeof value !== 'string') return true;
  if (item.members !== undefined || isSpecific(item)) return true;
  // `1,200` could be one number here, or two.
  if (item.types.length > 0 && !item.types.includes('string')) return !value.includes(',') || /[{[]/.test(value);
  return !SENTENCE.test(value) && !SEPARATED.test(value) && canStartItem(value, 6);
}

/** Whether items must match a format or pattern. */
export function isSpecific({ format, parts }: AlignmentView): boolean {
  return format !== undefined || parts.some((part) => 'pattern' in part);
}

/** Whether a string has few words and does not start like a sentence. */
export function canStartItem(text: string, maxWords: number): boolean {
  const words = splitWords(text);
  if (words.length === 0 || words.length > maxWords) return false;
  return !SENTENCE_OPENINGS.has(foldCase(words[0]?.text ?? '').replaceAll(/['’]/g, ''));
}

/**
 * Splits `Ann, Bob and Carl` into items of a few words each. Undefined for other strings: digits might be part of an
 * address, a date or an amount.
 */
export function splitEnumeration(text: string): string[] | undefined {
  if (text.length > MAX_ENUMERATION_LENGTH) return undefined;
  const items = text.split(ENUMERATED).map((item) => item.trim());
  if (items.length < 2 || SENTENCE.test(text) || /[\d"'()[\]{}]/.test(text)) return undefined;
  return items.every((item) => canStartItem(item, 3)) ? items : undefined;
}

/** Whether an object could be an item: an object that shares no key with the items, such as an error, is not. */
function canBeObjectItem(item: AlignmentView, value: Readonly<Record<string, unknown>>): boolean {
  const keys = Object.keys(value);
  if (item.groups.length > 0) return true;
  if (item.properties.size === 0) return keys.length > 0 && keys.every(mayContainAnswer);
  const names = [...item.properties.keys()];
  return keys.some((key) => item.properties.has(key)) || matchKeys(keys, names).size > 0;
}

/** Finds the key and value of an object with a single key; undefined for other values. */
function findSoleInnerValue(value: unknown): { readonly key: string; readonly value: unknown } | undefined {
  if (!isJsonObject(value)) return undefined;
  const [key, ...others] = Object.keys(value);
  if (key === undefined || others.length > 0 || !mayContainAnswer(key)) return undefined;
  return { key, value: value[key] };
}
