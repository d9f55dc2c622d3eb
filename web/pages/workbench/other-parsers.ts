import { getErrorMessage } from '../../../src/base/index.js';

/** The result of another parser. */
export interface OtherResult {
  readonly parser: 'JSON.parse' | 'jsonrepair';
  readonly outcome: 'same' | 'different' | 'error';
  /** Its value as truncated JSON, or its error. */
  readonly text: string;
}

/** Longer input would block the page, because these parsers do not run in the worker. */
export const MAX_TEXT_LENGTH = 20_000;
const MAX_OUTPUT_LENGTH = 4000;

/**
 * Parses the input with another parser and compares the value.
 *
 * @example
 * parseWith('JSON.parse', JSON.parse, '{"a":1}', '{"a": 1}') // { parser: 'JSON.parse', outcome: 'same', text: '{ "a": 1 }' }
 */
export function parseWith(
  parser: OtherResult['parser'],
  parse: (text: string) => unknown,
  text: string,
  /** The value that Sluice found, as JSON, or null. */
  sluiceValue: string | null,
): OtherResult {
  try {
    const value = parse(text);
    const isSame = sluiceValue !== null && JSON.stringify(value) === JSON.stringify(JSON.parse(sluiceValue));
    return { parser, outcome: isSame ? 'same' : 'different', text: shorten(JSON.stringify(value, null, 2) ?? '') };
  } catch (error) {
    return { parser, outcome: 'error', text: shorten(getErrorMessage(error)) };
  }
}

function shorten(text: string): string {
  return text.length > MAX_OUTPUT_LENGTH ? `${text.slice(0, MAX_OUTPUT_LENGTH)} …` : text;
}
