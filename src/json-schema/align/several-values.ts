import type { AlignmentSource } from '../../json/index.js';
import { foldCase } from '../text/spelling.js';

/** Most values of a text that are made a list. */
const MOST_VALUES = 10_000;
/** Longest text between two values that is looked through for a correction. */
const LONGEST_BETWEEN = 2000;

/** Words that make the value before or after them something else than an item. */
const NOT_ITEMS =
  /\b(?:wait|wrong|correct(?:ion|ed|ly)?|instead|actually|sorry|mistake|revised?|updated?|final(?:ly)?|better|rather|should|draft|example|e\.g|for instance|sample|schema|format|template|placeholder|previous(?:ly)?|original(?:ly)?|before|old)\b|更正|修正|应为|例如|示例|格式|最终/u;

/**
 * The values of a text that count as items, in their order; undefined if it is not known which of them do: one could not be
 * read, or words before an item speak of a correction or an example.
 */
export function findItems(
  { text, values }: AlignmentSource,
  isItem: (value: unknown) => boolean,
): readonly unknown[] | undefined {
  const placed = values();
  if (placed.length > MOST_VALUES || !placed.every((one) => 'value' in one)) return undefined;
  const items: unknown[] = [];
  let isClear = true;
  for (const [index, { start, value }] of placed.entries()) {
    if (!isItem(value)) continue;
    items.push(value);
    const before = text.slice(Math.max(placed[index - 1]?.end ?? 0, start - LONGEST_BETWEEN), start);
    isClear &&= !NOT_ITEMS.test(foldCase(before));
  }
  return items.length < 2 || isClear ? items : undefined;
}
