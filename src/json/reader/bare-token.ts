import { readCutNumber, readNumber } from './number.js';
import type { ReaderPolicy } from './reader-policy.js';
import type { Source } from './source.js';
import type { RepairKind } from '../repair.js';

/** Unquoted text: a number, a literal, a key or words without quotes. */
export interface BareToken {
  readonly text: string;
  /** The text ended with the token. */
  readonly cut: boolean;
  /** A quote follows directly: its own, without an opening one, or that of the next token. */
  readonly quote: 'none' | 'own' | 'foreign';
}

const WORD =
  /(?:[^\s\u00a0\u200b-\u200d\u2060\ufeff,，、;{}｛｝[\]［］"“”(\\/*_<]|(?!\/\*|\*\*|__\s*[,}\]]|<!--)[/*_<]){0,4096}/y;
const PHRASE = /(?:(?!\/\*|\s\/\/|\s#)[^\n,，、{}｛｝[\]［］"“”]){0,4096}/y;
const KEY = /(?:(?!\/\*|\s\/\/|\s#|\s')[^\n,，、{}｛｝[\]［］"“”:：=]){0,4096}/y;
const REGULAR_EXPRESSION = /\/(?:\\.|[^\\/\n]){0,1000}\//y;
const OWN_QUOTE = /["“”]\s{0,64}(?:[,，:：}｝\]］]|$)/y;
/**
 * More unquoted text than this is prose. Bounds what a stream scans again when more arrives, and how far the
 * patterns above go at once: they look ahead at every character, for which the engine's stack has room a few million times.
 */
const LONGEST = 4096;

/**
 * Reads the unquoted token under the position; undefined while its end has not arrived. `stop`: a character that ends it here
 * although such text may contain it elsewhere.
 */
export function readBareToken(
  source: Source,
  isKey: boolean,
  policy: ReaderPolicy,
  stops: string,
): BareToken | undefined {
  const { text, at, final } = source;
  let stop = stops;
  let length = policy.generous && !isKey ? source.match(REGULAR_EXPRESSION) : -1;
  if (length === -1) {
    length = measure(source, isKey ? KEY : WORD);
    const word = text.slice(at, at + length);
    // `[3, 4)`: a wrong bracket is no part of the number before it.
    const end = policy.generous && /^[^(]+\)$/.test(word) ? ')' : stop;
    if (!isKey && readLiteralOrNumber(cutAtStop(word, end), policy) === undefined) length = measure(source, PHRASE);
    else stop = end;
  }
  const token = cutAtStop(text.slice(at, at + length), stop);
  const end = at + token.length;
  if (end === text.length && !final && length < LONGEST) return undefined;
  const quoted = /["“”]/.test(text.charAt(end));
  if (quoted && !final && end + 66 > text.length && /^\s*$/.test(text.slice(end + 1))) return undefined;
  source.at = end;
  const quote = !quoted || /\s$/.test(token) ? 'none' : source.match(OWN_QUOTE) === -1 ? 'foreign' : 'own';
  if (quote === 'own') source.at++;
  return { text: token.trim(), cut: end === text.length, quote };
}

function measure(source: Source, pattern: RegExp): number {
  let length = 0;
  for (let step = LONGEST; step === LONGEST; length += step) step = source.match(pattern, length);
  return length;
}

function cutAtStop(token: string, stop: string): string {
  const at = stop === '' ? -1 : token.indexOf(stop);
  return at === -1 ? token : token.slice(0, at);
}

/** What an unquoted token turned out to be, and the repair it took. */
export interface BareReading {
  /** Missing where the text ended inside the token and it is unknown what it would have become. */
  readonly value?: unknown;
  readonly repair?: RepairKind;
  /** The text ended inside the token, and `value` is all it can have become. */
  readonly cut?: true;
}

/** Words for values; those that JSON has no value for become `null`, as in `JSON.stringify`. */
const LITERAL = /^(?:true|false|null|none|nil|undefined|NaN|-?Infinity)$/i;

/** Words, dates, addresses, paths: text without brackets, operators and calls. */
const PLAIN_TEXT = /^[\p{L}\p{N}_@#/~.][\p{L}\p{N}\p{M}_@#%/~. :'+&-]*$/u;
/** `process.env.HOME`, `new Date` and `b'x'` are code; what holds `: ` is a member that lost its comma. */
const CODE =
  /^[\p{L}_$][\w$]*(?:\.[\p{L}_$][\w$]*)+$|^(?:new|function|await|async|typeof|void|delete|class|this|return|lambda|not) |^\w\w?'.*'$|: |:$| [+&-] |\w\+\w|&&/u;
const PLAIN_KEY = /^[\p{L}\p{N}_$@][\p{L}\p{N}\p{M}_$@ ./-]{0,255}$/u;

/** A complete literal or number; undefined if the token is other text. */
function readLiteralOrNumber(token: string, policy: ReaderPolicy): BareReading | undefined {
  if (!LITERAL.test(token)) return readNumber(token, policy.numbers);
  const value = readLiteral(token);
  return token === String(value) ? { value } : { value, repair: 'literal' };
}

/** Reads a whole unquoted token where a value is due; undefined if it is to be refused. */
export function readBareText(token: string, atEnd: boolean, policy: ReaderPolicy): BareReading | undefined {
  const complete = readLiteralOrNumber(token, policy);
  if (complete !== undefined) return complete;
  const { generous } = policy;
  const number = atEnd || generous ? readCutNumber(token, policy.numbers) : undefined;
  if (number !== undefined) return { value: number, repair: atEnd ? 'truncated' : 'number' };
  if (generous && /^[-.]$/.test(token)) return { value: 0, repair: 'number' };
  if (atEnd && !generous) {
    if (token === '-') return { cut: true };
    const word = ['true', 'false', 'null'].find((candidate) => candidate.startsWith(token));
    if (word !== undefined) return { cut: true, value: readLiteral(word) };
  }
  const isText = generous || (PLAIN_TEXT.test(token) && !CODE.test(token));
  return isText ? { value: token, repair: 'unquoted_string' } : undefined;
}

/** Whether unquoted text may be the key of an object. */
export function isBareKey(token: string, policy: ReaderPolicy): boolean {
  return policy.generous ? token !== '' : PLAIN_KEY.test(token);
}

/** What a word for a value means, by its first letter. */
export function readLiteral(word: string): boolean | null {
  const letter = word.charAt(0).toLowerCase();
  return letter === 't' ? true : letter === 'f' ? false : null;
}
