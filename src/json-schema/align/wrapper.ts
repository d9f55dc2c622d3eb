import { isJsonObject } from '../json-schema.js';
import { foldCase } from './fold-text.js';

/** Keys whose content is not the answer, whatever it looks like. */
const NOT_ANSWERS =
  /error|exception|refus|example|sample|schema|template|previous|original|input|request|old|before|reject|invalid|wrong/;

/** Tells whether what stands under a key may be the answer. */
export function mayHoldAnswer(key: string): boolean {
  return !NOT_ANSWERS.test(foldCase(key));
}

/** The content of an object that has a single key. */
export function soleInnerValue(value: unknown): { readonly key: string; readonly value: unknown } | undefined {
  if (!isJsonObject(value)) return undefined;
  const [key, ...others] = Object.keys(value);
  if (key === undefined || others.length > 0 || !mayHoldAnswer(key)) return undefined;
  return { key, value: value[key] };
}
