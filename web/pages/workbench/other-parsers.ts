import { getErrorMessage } from '../../../src/base/index.js';

/** The result of another parser. */
export interface OtherReading {
  readonly parser: 'JSON.parse' | 'jsonrepair';
  readonly outcome: 'same' | 'different' | 'error';
  /** Its value as JSON, shortened, or its error. */
  readonly text: string;
}

/** Longer texts would hold up the page, which these parsers run in. */
export const MAX_TEXT_LENGTH = 20_000;
const SHOWN = 4000;

/**
 * Reads a text with a parser and compares the value with another one.
 *
 * @example
 * readWith('JSON.parse', JSON.parse, '{"a":1}', '{"a": 1}') // { parser: 'JSON.parse', outcome: 'same', text: '{ "a": 1 }' }
 */
export function readWith(
  parser: OtherReading['parser'],
  parse: (text: string) => unknown,
  text: string,
  /** The value that Sluice has found, as JSON; null if none. */
  own: string | null,
): OtherReading {
  try {
    const value = parse(text);
    const isSame = own !== null && JSON.stringify(value) === JSON.stringify(JSON.parse(own));
    return { parser, outcome: isSame ? 'same' : 'different', text: shorten(JSON.stringify(value, null, 2) ?? '') };
  } catch (error) {
    return { parser, outcome: 'error', text: shorten(getErrorMessage(error)) };
  }
}

function shorten(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)} …` : text;
}
