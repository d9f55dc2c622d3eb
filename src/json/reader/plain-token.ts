import { CONTROL } from './character.js';
import type { StringSurroundings } from './quote-verdict.js';

/** A string in straight quotes without anything special; what follows it must make certain that it ended. */
const STRING = `(["'])[^"'\\\\${CONTROL}]+\\1`;
const QUOTED_MEMBER = /"[^"\\\n]{0,64}":|'[^'\\\n]{0,64}':/.source;
const BARE_MEMBER = /\w{1,64}:\s{0,64}(?:["'[{]|(?:\d{1,15}|true|false|null)[,}\]\s])/.source;
const AFTER_MEMBER = `(?=,\\s{0,64}(?:}|${QUOTED_MEMBER}|${BARE_MEMBER})|\\s{0,64}}\\s{0,64}[,}\\]])`;
const AFTER_ITEM = /(?=,\s{0,64}["'\]]|\s{0,64}\]\s{0,64}[,}\]])/.source;
/** A number or literal as JSON writes it, with a delimiter behind it. */
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?=[,}\]\s])/.source;

/**
 * The tokens nearly all texts consist of, with what nearly always follows them: they are taken at once. All others are
 * read character by character.
 */
export const PLAIN_TOKENS: Readonly<Record<StringSurroundings['role'], RegExp>> = {
  root: new RegExp(SCALAR, 'y'),
  key: new RegExp(`${STRING}(?<!:.)(?=:)|[A-Za-z_$][\\w$]{0,255}(?=[ \\t]{0,64}:)`, 'y'),
  member: new RegExp(`${STRING}${AFTER_MEMBER}|${SCALAR}`, 'y'),
  item: new RegExp(`${STRING}${AFTER_ITEM}|${SCALAR}`, 'y'),
};
