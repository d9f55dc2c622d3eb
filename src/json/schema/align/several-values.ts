import type { AlignmentSource } from '../../index.js';
import { foldCase } from '../text/spelling.js';

/** A value found in the input. */
interface LocatedValue {
  readonly start: number;
  readonly end: number;
  /** Omitted if it could not be read. */
  readonly value?: unknown;
  /** Words before it rule it out as an item, or the value before it. */
  readonly isDoubtful: boolean;
}

/** Maximum number of values that are combined into a list. */
const MAX_VALUES = 10_000;
/** Maximum distance between two values that is searched for a correction. */
const MAX_GAP_LENGTH = 2000;

/** Words that rule out the value before or after them as an item. */
const NON_ITEM_WORDS =
  /\b(?:wait|wrong|correct(?:ion|ed|ly)?|instead|actually|sorry|mistake|revised?|updated?|final(?:ly)?|better|rather|should|draft|example|e\.g|for instance|sample|schema|format|template|not|placeholder|previous(?:ly)?|original(?:ly)?|before|old)\b|更正|修正|应为|例如|示例|格式|最终/u;
/** Words after the last value that withdraw one of them. */
const WITHDRAWAL = /\b(?:delet|discard|disregard|drop|exclud|ignor|remov)/;

/**
 * Finds the values in the input that are items, in order. Returns undefined if that is unclear: a value could not be
 * read, a value of another kind is among them, or words before an item indicate a correction or an example.
 */
export function findItems(
  source: AlignmentSource,
  isItem: (value: unknown) => boolean,
): readonly unknown[] | undefined {
  const values = listValues(source);
  if (values.length > MAX_VALUES || !values.every((located) => 'value' in located)) return undefined;
  const items: unknown[] = [];
  const after = source.text.slice(values.at(-1)?.end).slice(0, MAX_GAP_LENGTH);
  let isClear = !WITHDRAWAL.test(foldCase(after));
  let hasOtherKind = false;
  for (const { value, isDoubtful } of values) {
    if (!isItem(value)) {
      hasOtherKind = items.length > 0;
      continue;
    }
    items.push(value);
    isClear &&= !hasOtherKind && !isDoubtful;
  }
  return items.length < 2 || isClear ? items : undefined;
}

/** The values of each list of candidates, which all alignments of one search share, and its length at the time. */
const knownValues = new WeakMap<object, { readonly length: number; readonly values: readonly LocatedValue[] }>();

/**
 * Lists the values in the input in order, without nested ones. The candidate for the whole input is skipped: it
 * contains the others.
 */
export function listValues({ candidates, text }: AlignmentSource): readonly LocatedValue[] {
  const { length } = candidates;
  const known = knownValues.get(candidates);
  if (known?.length === length) return known.values;
  const values: LocatedValue[] = [];
  const parts = candidates.filter(({ finder, level }) => finder !== 'whole' && level === 0);
  for (const { finder, start, end: limit, read } of parts.toSorted((left, right) => left.start - right.start)) {
    const reading = read();
    const end = Math.max(finder === 'fence' || finder === 'prose' ? reading.end : limit, start);
    const before = values.at(-1);
    if (before !== undefined && start < before.end) continue;
    const gap = text.slice(Math.max(before?.end ?? 0, start - MAX_GAP_LENGTH), start);
    const isDoubtful = NON_ITEM_WORDS.test(foldCase(gap));
    values.push({ start, end, isDoubtful, ...(reading.ok && { value: reading.value }) });
  }
  knownValues.set(candidates, { length, values });
  return values;
}
