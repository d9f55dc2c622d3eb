import type { AlignableSchema } from '../../index.js';
import { isJsonObject } from '../json-schema.js';

/** A description in place of a value, or a date format, which means nothing without one. */
const PLACEHOLDER =
  /^(?:<[^<>/="]{0,60} [^<>/="]{0,60}>|\[(?:insert|your) [^\]]{1,60}\]|y{4}-m{2}-d{2}|h{2}:m{2}(?::s{2})?)$/i;
const DATE_FORMAT = /^[ymdhs:-]+$/i;
/** Dots in place of text, zero in place of numbers. */
const BLANK = /^(?:\.{3}|…|0)$/;

/** Whether every text and every zero in a value matches, and nothing else is in it; a deep value is not a template. */
function isMadeOf(value: unknown, pattern: RegExp, depth = 9): boolean {
  if (typeof value === 'string' || value === 0) return pattern.test(String(value));
  const parts: unknown[] = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return depth > 0 && parts.length > 0 && parts.every((part) => isMadeOf(part, pattern, depth - 1));
}

/** Whether a value is a form: descriptions, names of types, or dots in place of all values. */
function isTemplate(value: unknown): boolean {
  if (isMadeOf(value, PLACEHOLDER)) return !isMadeOf(value, DATE_FORMAT);
  const parts = isJsonObject(value) ? Object.values(value) : [];
  // A single text of dots can be a value.
  return (
    (parts.length > 1 && isMadeOf(value, /^string$/)) ||
    (parts.filter((part) => part !== 0 && isMadeOf(part, BLANK)).length > 1 && isMadeOf(value, BLANK))
  );
}

/** An item that stands for further items: `... (remaining files)`, `… 47 more`, `[rest omitted]`, `and so on`. */
const ELIDED_ITEM =
  /^(?:(?:\.{3}|…) ?(?:\(.*\)|(?:and )?(?:\d+ (?:more|others)\b.{0,30}|(?:more|others|so on)\.?)|etc\.?)|[[(][^\])]{0,99}\b(?:omitted|skipped|truncated)\b[^\])]{0,99}[\])]|and (?:more|others|so (?:on|forth))\.?|etc\.?|usw\.?|等等)$/i;

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
  if (isTemplate(value)) return { code: 'SCHEMA_MISMATCH', message: 'The value is a template.' };
  return isAbridged(value) ? { code: 'TRUNCATED', message: 'The value leaves out items.' } : undefined;
};
