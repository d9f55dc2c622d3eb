import type { AlignableSchema } from '../../index.js';
import { isJsonObject } from '../json-schema.js';

/** A description in place of a value, and the name of the type in place of each. */
const PLACEHOLDER = /^(?:<[^<>/="]{0,60} [^<>/="]{0,60}>|\[(?:insert|your) [^\]]{1,60}\])$/i;
const TYPE_NAME = /^string$/;

/** Whether every part of a value is a placeholder; a deep value is not a template. */
function isTemplate(value: unknown, placeholder: RegExp, depth = 9): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' && placeholder.test(value);
  const parts: unknown[] = Object.values(value);
  return depth > 0 && parts.length > 0 && parts.every((part) => isTemplate(part, placeholder, depth - 1));
}

/** An item that stands for further items: `... (remaining files)`, `… 47 more`. */
const ELIDED_ITEM =
  /^(?:\.{3}|…) ?(?:\(.*\)|(?:and )?(?:\d+ (?:more|others)\b.{0,30}|(?:more|others|so on)\.?)|etc\.?)$/i;

/** Whether a list, or a list in an object, ends with an item that stands for further items. */
function isAbridged(value: unknown): boolean {
  if (Array.isArray(value)) return endsElided(value);
  return isJsonObject(value) && Object.values(value).some((part) => Array.isArray(part) && endsElided(part));
}

function endsElided(list: readonly unknown[]): boolean {
  const last = list.at(-1);
  return typeof last === 'string' && ELIDED_ITEM.test(last);
}

/** Finds what shows that a valid value is not an answer: descriptions in place of all values, an item for omitted ones. */
export const findGap: NonNullable<AlignableSchema['~sluice']['findGap']> = (value) => {
  const isForm =
    isTemplate(value, PLACEHOLDER) ||
    (isJsonObject(value) && Object.keys(value).length > 1 && isTemplate(value, TYPE_NAME));
  if (isForm) return { code: 'SCHEMA_MISMATCH', message: 'The value is a template.' };
  return isAbridged(value) ? { code: 'TRUNCATED', message: 'The value leaves out items.' } : undefined;
};
