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

const WORD = /(?:(?!\/\*)[^\s\u00a0\ufeff,，、{}｛｝[\]［］"“”(])*/y;
const PHRASE = /(?:(?!\/\*|\s\/\/|\s#)[^\n,，、{}｛｝[\]［］"“”])*/y;
const KEY = /(?:(?!\/\*|\s\/\/|\s#|\s')[^\n,，、{}｛｝[\]［］"“”:：=])*/y;
const REGULAR_EXPRESSION = /\/(?:\\.|[^\\/\n]){0,1000}\//y;
const OWN_QUOTE = /["“”]\s{0,64}(?:[,，:：}｝\]］]|$)/y;
/** More unquoted text than this is prose. Bounds what a stream must look through again when more arrives. */
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
  const any = policy.generous;
  let length = any && !isKey ? source.match(REGULAR_EXPRESSION) : -1;
  if (length === -1) {
    length = source.match(isKey ? KEY : WORD);
    const word = text.slice(at, at + length);
    if (!isKey && readLiteralOrNumber(cutAtStop(word, stop), policy) === undefined) length = source.match(PHRASE);
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

function cutAtStop(token: string, stop: string): string {
  const at = stop === '' ? -1 : token.indexOf(stop);
  return at === -1 ? token : token.slice(0, at);
}
