import { MAX_BARE_LENGTH } from '../bounds.js';
import { readCutNumber, readNumber } from './number.js';
import type { ReaderPolicy } from './reader-policy.js';
import type { Source } from './source.js';
import type { RepairKind } from '../repair.js';

/** Unquoted text: a number, a literal, a key or words without quotes. */
export interface BareToken {
  readonly text: string;
  /** The input ends right after the token, which might be incomplete. */
  readonly cut: boolean;
  /** Whether a quote directly after the token closes it; false if the quote opens the next token, undefined without a quote. */
  readonly endQuote: boolean | undefined;
}

/**
 * Patterns for a word, several words and a key, up to the next delimiter or comment. Each match is bounded by
 * `MAX_BARE_LENGTH`: `measureBare` reapplies a pattern as long as it matches that much.
 */
export const WORD =
  /(?:[^\s\u00a0\u200b-\u200d\u2060\ufeff,，、;{}｛｝[\]［］"“”(\\/*_<]|(?!\/\*|\*\*|__\s*[,}\]]|<!--)[/*_<]){0,4096}/y;
export const PHRASE = /(?:(?!\/\*|\s\/\/|\s#)[^\n,，、{}｛｝[\]［］"“”]){0,4096}/y;
export const KEY = /(?:(?!\/\*|\s\/\/|\s#|\s')[^\n,，、{}｛｝[\]［］"“”:：=]){0,4096}/y;
const END_QUOTE = /["“”]\s{0,64}([,，:：}｝\]］]|$)/y;

/**
 * Returns the length of the unquoted token at the position: a number or literal, otherwise words up to the next
 * delimiter.
 */
export function measureBareToken(source: Source, isKey: boolean, policy: ReaderPolicy): number {
  const length = measureBare(source, isKey ? KEY : WORD);
  const word = source.text.slice(source.at, source.at + length);
  return isKey || readLiteralOrNumber(word, policy) !== undefined ? length : measureBare(source, PHRASE);
}

/** Reads an unquoted token of this length; undefined while its end has not arrived. */
export function readBareToken(source: Source, length: number): BareToken | undefined {
  const { text, at, final } = source;
  const end = at + length;
  if (end === text.length && !final && length < MAX_BARE_LENGTH) return undefined;
  const quoted = /["“”]/.test(text.charAt(end));
  // The character after the quote and its spaces determines whether the quote closes the token; `END_QUOTE` matches at
  // most 66.
  if (quoted && !final && end + 66 > text.length && /^\s*$/.test(text.slice(end + 1))) return undefined;
  const token = text.slice(at, end);
  source.at = end;
  const endQuote = quoted && !/\s$/.test(token) ? source.matchHere(END_QUOTE) !== -1 : undefined;
  if (endQuote) source.at++;
  return { text: token.trim(), cut: end === text.length, endQuote };
}

/** Measures how far a bounded pattern matches when applied repeatedly. */
export function measureBare(source: Source, pattern: RegExp): number {
  let length = 0;
  for (let step = MAX_BARE_LENGTH; step === MAX_BARE_LENGTH; length += step) step = source.matchHere(pattern, length);
  return length;
}

/** The value of an unquoted token, and the repair it needed. */
export interface BareReading {
  /** Absent if the input ended inside the token and its complete value is unknown. */
  readonly value?: unknown;
  readonly repair?: RepairKind;
  /** The input ended inside the token, and `value` is the only possible completion. */
  readonly cut?: true;
}

/** Literal words; those without a JSON equivalent become `null`, as in `JSON.stringify`. */
const LITERAL = /^(true|false|null|none|nil|undefined|NaN|-?Infinity)$/i;

/** Words, dates, addresses, paths: text without brackets, operators and calls. */
const PLAIN_TEXT = /^[\p{L}\p{N}_@#/~.][\p{L}\p{N}\p{M}_@#%/~. :'+&-]*$/u;
/** `process.env.HOME`, `new Date` and `b'x'` are code; text with `: ` is a member that lost its comma. */
const CODE =
  /^[\p{L}_$][\w$]*(\.[\p{L}_$][\w$]*)+$|^(new|function|await|async|typeof|void|delete|class|this|return|lambda|not) |^\w\w?'.*'$|: |:$| [+&-] |\w\+\w|&&/u;
const PLAIN_KEY = /^[\p{L}\p{N}_$@][\p{L}\p{N}\p{M}_$@ ./-]{0,255}$/u;

/** Reads a complete literal or number; undefined if the token is anything else. */
export function readLiteralOrNumber(token: string, policy: ReaderPolicy): BareReading | undefined {
  if (!LITERAL.test(token)) return readNumber(token, policy.numbers);
  const value = readLiteral(token);
  return token === String(value) ? { value } : { value, repair: 'literal' };
}

/** Reads a whole unquoted token where a value is expected; undefined if it must be refused. */
export function readBareText(token: string, atEnd: boolean, policy: ReaderPolicy): BareReading | undefined {
  const complete = readLiteralOrNumber(token, policy);
  if (complete) return complete;
  if (atEnd) {
    const number = readCutNumber(token, policy.numbers);
    if (number !== undefined) return { value: number, repair: 'truncated' };
    if (token === '-') return { cut: true };
    const word = ['true', 'false', 'null'].find((candidate) => candidate.startsWith(token));
    if (word) return { cut: true, value: readLiteral(word) };
  }
  const isText = PLAIN_TEXT.test(token) && !CODE.test(token);
  return isText ? { value: token, repair: 'unquoted_string' } : undefined;
}

/** Whether unquoted text can be an object key. */
export function isBareKey(token: string, policy: ReaderPolicy): boolean {
  return policy.acceptsAnyText ? token !== '' : PLAIN_KEY.test(token);
}

/** Returns the value of a literal word, which may be truncated: its first letter is enough. */
export function readLiteral(word: string): boolean | null {
  const letter = word.charAt(0).toLowerCase();
  return letter === 't' ? true : letter === 'f' ? false : null;
}
