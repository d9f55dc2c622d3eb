import { readLiteralOrNumber } from './bare-text.js';
import type { ReaderPolicy } from './reader-policy.js';
import type { Source } from './source.js';

/** Unquoted text: a number, a literal, a key or words without quotes. */
export interface BareToken {
  readonly text: string;
  /** The text ended with the token. */
  readonly cut: boolean;
  /** A quote stands right behind it: its own, whose partner is missing, or that of the next token. */
  readonly quote: 'none' | 'own' | 'foreign';
}

const WORD = /(?:(?!\/\*)[^\s\u00a0\ufeff,，、{}｛｝[\]［］"“”(\\]){0,4096}/y;
const PHRASE = /(?:(?!\/\*|\s\/\/|\s#)[^\n,，、{}｛｝[\]［］"“”]){0,4096}/y;
const KEY = /(?:(?!\/\*|\s\/\/|\s#|\s')[^\n,，、{}｛｝[\]［］"“”:：=]){0,4096}/y;
const REGULAR_EXPRESSION = /\/(?:\\.|[^\\/\n]){0,1000}\//y;
const OWN_QUOTE = /["“”]\s{0,64}(?:[,，:：}｝\]］]|$)/y;
/**
 * More unquoted text than this is prose. Bounds what a stream must look through again when more arrives, and how far the
 * patterns above go at once: they look ahead at every character, for which the engine's stack has room a few million times.
 */
const LONGEST = 4096;

/**
 * Reads the unquoted token under the position; undefined while its end has not arrived. `stop`: a character that ends it here
 * although it may stand in such text elsewhere.
 */
export function readBareToken(
  source: Source,
  isKey: boolean,
  policy: ReaderPolicy,
  stop: string,
): BareToken | undefined {
  const { text, at, final } = source;
  let length = policy.generous && !isKey ? source.match(REGULAR_EXPRESSION) : -1;
  if (length === -1) {
    length = measure(source, isKey ? KEY : WORD);
    const word = text.slice(at, at + length);
    if (!isKey && readLiteralOrNumber(cutAtStop(word, stop), policy) === undefined) length = measure(source, PHRASE);
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
