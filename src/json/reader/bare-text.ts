import type { RepairKind } from '../repair.js';
import { readCutNumber, readNumber } from './number.js';
import type { ReaderPolicy } from './reader-policy.js';

/** What an unquoted token turned out to be, and the repair it took. */
export interface BareReading {
  /** Missing where the text ended inside the token and nothing tells what it would have become. */
  readonly value?: unknown;
  readonly repair?: RepairKind;
  /** The text ended inside the token, and `value` is all it can have become. */
  readonly cut?: true;
}

/** Words for values; those that JSON has no value for become `null`, as in `JSON.stringify`. */
const LITERAL = /^(?:true|True|TRUE|false|False|FALSE|null|Null|NULL|None|nil|undefined|NaN|-?Infinity)$/;

/** Words, dates, addresses, paths: text without brackets, operators and calls. */
const PLAIN_TEXT = /^[\p{L}\p{N}_@#/~.][\p{L}\p{N}\p{M}_@#%/~. :'+&-]*$/u;
/** `process.env.HOME`, `new Date` and `b'x'` are code; what holds `: ` is a member that lost its comma. */
const CODE =
  /^[\p{L}_$][\w$]*(?:\.[\p{L}_$][\w$]*)+$|^(?:new|function|await|async|typeof|void|delete|class|this|return|lambda|not) |^\w\w?'.*'$|: |:$| [+&-] |\w\+\w|&&/u;
const PLAIN_KEY = /^[\p{L}\p{N}_$@][\p{L}\p{N}\p{M}_$@ ./-]{0,255}$/u;

/** A literal or number that is complete as it stands; undefined if the token is other text. */
export function readLiteralOrNumber(token: string, policy: ReaderPolicy): BareReading | undefined {
  if (!LITERAL.test(token)) return readNumber(token, policy.numbers);
  const value = literalOf(token);
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
    if (word !== undefined) return { cut: true, value: literalOf(word) };
  }
  const isText = generous || (PLAIN_TEXT.test(token) && !CODE.test(token));
  return isText ? { value: token, repair: 'unquoted_string' } : undefined;
}

/** Whether unquoted text may be the key of an object. */
export function isBareKey(token: string, policy: ReaderPolicy): boolean {
  return policy.generous ? token !== '' : PLAIN_KEY.test(token);
}

/** What a word for a value means, told by its first letter. */
export function literalOf(word: string): boolean | null {
  const letter = word.charAt(0).toLowerCase();
  return letter === 't' ? true : letter === 'f' ? false : null;
}
