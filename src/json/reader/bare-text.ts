import type { RepairKind } from '../repair.js';
import { readCutNumber, readNumber } from './number.js';
import type { ReaderPolicy } from './reader-policy.js';

/**
 * What an unquoted token turned out to be: a value, and the repair it took; or `cut`, when the text ended inside it and
 * `value` is all it can have become.
 */
export type BareReading =
  | { readonly kind: 'value'; readonly value: unknown; readonly repair?: RepairKind }
  | { readonly kind: 'cut'; readonly value?: unknown }
  | { readonly kind: 'refused' };

/** Words for values; those that JSON has no value for become `null`, as in `JSON.stringify`. */
const TRUE = /^(?:true|True|TRUE)$/;
const FALSE = /^(?:false|False|FALSE)$/;
const NULL = /^(?:null|Null|NULL|None|nil|undefined|NaN|-?Infinity)$/;

/** Words, dates, addresses, paths: text without brackets, operators and calls. */
const PLAIN_TEXT = /^[\p{L}\p{N}_@#/~.][\p{L}\p{N}\p{M}_@#%/~. :'+&-]*$/u;
/** `process.env.HOME` and `new Date` are code; what holds `: ` is a member that lost its comma. */
const CODE =
  /^[\p{L}_$][\w$]*(?:\.[\p{L}_$][\w$]*)+$|^(?:new|function|await|async|typeof|void|delete|class|this|return|lambda|not) |: |:$| [+&-] |\w\+\w|&&/u;
const PLAIN_KEY = /^[\p{L}\p{N}_$@][\p{L}\p{N}\p{M}_$@ ./-]{0,255}$/u;

/** A literal or number that is complete as it stands; undefined if the token is other text. */
export function readLiteralOrNumber(token: string, policy: ReaderPolicy): BareReading | undefined {
  const value = literal(token);
  if (value !== undefined)
    return token === String(value) ? { kind: 'value', value } : { kind: 'value', value, repair: 'literal' };
  const number = readNumber(token, policy.numbers);
  if (number === undefined) return undefined;
  return number.repaired
    ? { kind: 'value', value: number.value, repair: 'number' }
    : { kind: 'value', value: number.value };
}

/** Reads a whole unquoted token where a value is due. */
export function readBareText(token: string, atEnd: boolean, policy: ReaderPolicy): BareReading {
  const complete = readLiteralOrNumber(token, policy);
  if (complete !== undefined) return complete;
  const any = policy.bareText === 'any';
  const number = atEnd || any ? readCutNumber(token, policy.numbers) : undefined;
  if (number !== undefined) return { kind: 'value', value: number.value, repair: atEnd ? 'truncated' : 'number' };
  if (any) return /^[-.]$/.test(token) ? { kind: 'value', value: 0, repair: 'number' } : unquoted(token);
  if (atEnd && token === '-') return { kind: 'cut' };
  const word = atEnd && ['true', 'false', 'null'].find((candidate) => candidate.startsWith(token));
  if (typeof word === 'string') return { kind: 'cut', value: literal(word) };
  return PLAIN_TEXT.test(token) && !CODE.test(token) ? unquoted(token) : { kind: 'refused' };
}

/** Whether unquoted text may be the key of an object. */
export function isBareKey(token: string, policy: ReaderPolicy): boolean {
  return policy.bareText === 'any' ? token !== '' : PLAIN_KEY.test(token);
}

function literal(token: string): boolean | null | undefined {
  return TRUE.test(token) ? true : FALSE.test(token) ? false : NULL.test(token) ? null : undefined;
}

function unquoted(token: string): BareReading {
  return { kind: 'value', value: token, repair: 'unquoted_string' };
}
