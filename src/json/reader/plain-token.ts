import * as State from './state.js';
import { readLiteral } from './bare-token.js';
import { CONTROL } from './character.js';
import { convertNumber, type NumberMode } from './number.js';
import { BARE_MEMBER, QUOTED_KEY, SPACE } from './judge-quote.js';

/** A character of a string that needs no special handling. */
export const PLAIN_CHARACTER = `[^"\\\\${CONTROL}]`;
const PLAIN = `${PLAIN_CHARACTER}*`;
const SINGLE = `'[^'\\\\${CONTROL}]+'`;
/** A string in straight quotes that needs no repair and is not a path; what follows must prove that it ended. */
export const PLAIN_STRING = `"(?![A-Za-z]:\\\\)${PLAIN}(?:\\\\["\\\\/nrt]${PLAIN}){0,64}"`;
const STRING = `(?:${PLAIN_STRING}|${SINGLE})`;
/** A number or literal as JSON writes it, with a delimiter after it. */
export const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?=[,}\]\s])/.source;
const KEY = `(?:"${PLAIN}"|${SINGLE})(?<!:.)|[A-Za-z_$][\\w$]{0,255}`;

/**
 * The most common tokens and what usually follows them. Each is read in one step, a key together with its colon and, if
 * that is plain too, its value. All others are read character by character.
 */
export const PLAIN_TOKENS = {
  [State.KEY]: new RegExp(
    `(?:${KEY}):[ \\n\\r\\t]*(?:${createPlainPattern('}', `${QUOTED_KEY}|${BARE_MEMBER.replace('|~', '')}`)})?`,
    'y',
  ),
  [State.ITEM]: new RegExp(createPlainPattern('\\]', `["']`), 'y'),
} as const;

/**
 * The pattern for a scalar in a container with this closing bracket; `next` matches the start of the next member or
 * item.
 */
function createPlainPattern(bracket: string, next: string): string {
  return `${STRING}(?=,${SPACE}(?:${bracket}|${next})|${SPACE}${bracket}${SPACE}[,}\\]])|${SCALAR}`;
}

/** Reads a plain value. */
export function readPlainValue(token: string, numbers: NumberMode): unknown {
  const char = token.charAt(0);
  if (char === '"' && token.includes('\\')) return JSON.parse(token);
  if (char === '"' || char === "'") return token.slice(1, -1);
  return 'tfn'.includes(char) ? readLiteral(char) : convertNumber(token, numbers);
}
