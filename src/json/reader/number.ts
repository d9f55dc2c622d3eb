import type { ParseOptions } from '../options.js';

/** How to return numbers that a double cannot represent; a function converts their source text. */
export type NumberMode = NonNullable<ParseOptions['numbers']> | ((token: string) => unknown);

/**
 * Numbers in JSON and other languages: `+1`, `.5`, `5.`, `1_000`. Digits with leading zeros are not a number: they
 * might be a code.
 */
const NUMBER = /^[+-]?(?:(?:0|[1-9][\d_]*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const HEXADECIMAL = /^0[xX][\da-fA-F]+$/;
/** A number that was cut off in its fraction or exponent. */
const CUT_NUMBER = /^(-?(?:0|[1-9]\d*)(?:\.\d+)?)(?:\.|\.?[eE][+-]?)$/;

/** Reads a whole token as a number, with the repair it needed; undefined if it is not a number. */
export function readNumber(
  token: string,
  mode: NumberMode,
): { readonly value: unknown; readonly repair?: 'number' } | undefined {
  if (HEXADECIMAL.test(token)) return { value: Number(token), repair: 'number' };
  if (!NUMBER.test(token)) return undefined;
  const plain = token.replace(/^\+|_|\.(?=$|e)/gi, '').replace(/^(-?)\./, '$10.');
  const value = convertNumber(plain, mode);
  return plain === token ? { value } : { value, repair: 'number' };
}

/** Returns the part of a truncated token that already is a number, or undefined. */
export function readCutNumber(token: string, mode: NumberMode): unknown {
  const whole = CUT_NUMBER.exec(token)?.[1];
  return whole ? convertNumber(whole, mode) : undefined;
}

/** Returns the value of a valid JSON number in the requested representation. */
export function convertNumber(token: string, mode: NumberMode): unknown {
  const value = Number(token);
  if (
    mode === 'double' ||
    (Number.isFinite(value) &&
      (token.length < 16 || getSignificantDigits(String(value)) === getSignificantDigits(token)))
  )
    return value;
  if (typeof mode === 'function') return mode(token);
  if (mode === 'raw') return token;
  return /[.eE]/.test(token) ? value : BigInt(token);
}

/** The significant digits of a number. */
function getSignificantDigits(token: string): string {
  return token.replace(/e.*$|\D/gi, '').replace(/^0+|0+$/g, '');
}
