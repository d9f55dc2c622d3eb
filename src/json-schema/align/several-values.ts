import type { AlignmentSource } from '../../json/index.js';
import { foldCase } from '../text/spelling.js';

/** A value found in a text. */
interface PlacedValue {
  readonly start: number;
  readonly end: number;
  /** Left out if it could not be read. */
  readonly value?: unknown;
}

/** Most values of a text that are made a list. */
const MAX_VALUES = 10_000;
/** Longest text between two values that is looked through for a correction. */
const MAX_GAP_LENGTH = 2000;

/** Words that show that the value before or after them is not an item. */
const NOT_ITEMS =
  /\b(?:wait|wrong|correct(?:ion|ed|ly)?|instead|actually|sorry|mistake|revised?|updated?|final(?:ly)?|better|rather|should|draft|example|e\.g|for instance|sample|schema|format|template|not|placeholder|previous(?:ly)?|original(?:ly)?|before|old)\b|更正|修正|应为|例如|示例|格式|最终/u;
/** Words after the last value that withdraw one of them. */
const TAKEN_BACK = /\b(?:delet|discard|disregard|drop|exclud|ignor|remov)/;

/**
 * The values of a text that count as items, in their order; undefined if it is not known which of them do: one could not be
 * read, another kind of value is among them, or words before an item speak of a correction or an example.
 */
export function findItems(
  source: AlignmentSource,
  isItem: (value: unknown) => boolean,
): readonly unknown[] | undefined {
  const { text } = source;
  const placed = placeValues(source);
  if (placed.length > MAX_VALUES || !placed.every((one) => 'value' in one)) return undefined;
  const items: unknown[] = [];
  let isClear = !TAKEN_BACK.test(foldCase(text.slice(placed.at(-1)?.end).slice(0, MAX_GAP_LENGTH)));
  let isOtherSeen = false;
  for (const [index, { start, value }] of placed.entries()) {
    if (!isItem(value)) {
      isOtherSeen = items.length > 0;
      continue;
    }
    items.push(value);
    isClear &&= !isOtherSeen;
    const before = text.slice(Math.max(placed[index - 1]?.end ?? 0, start - MAX_GAP_LENGTH), start);
    isClear &&= !NOT_ITEMS.test(foldCase(before));
  }
  return items.length < 2 || isClear ? items : undefined;
}

/** The values of the text in their order, none inside another. What was found as a whole holds them all, or is the only one. */
export function placeValues({ candidates }: AlignmentSource): readonly PlacedValue[] {
  const placed: PlacedValue[] = [];
  const parts = candidates.filter(({ finder, level }) => finder !== 'whole' && level === 0);
  for (const { finder, start, end: limit, read } of parts.toSorted((left, right) => left.start - right.start)) {
    const reading = read();
    const end = Math.max(finder === 'fence' || finder === 'prose' ? reading.end : limit, start);
    const before = placed.at(-1);
    if (before !== undefined && start < before.end) continue;
    placed.push(reading.ok ? { start, end, value: reading.value } : { start, end });
  }
  return placed;
}
