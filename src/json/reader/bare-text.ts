import { readCutNumber, readNumber } from './number.js';
import type { ReaderPolicy } from './reader-policy.js';
import type { RepairKind } from '../repair.js';

/** The repairs that make a value of an unquoted token. */
export type BareRepair = Extract<RepairKind, 'literal' | 'number' | 'unquoted_string' | 'truncated'>;

/** What an unquoted token turned out to be; `cut`: the text ended inside it, `value` is all it can have become. */
export type BareReading =
  | { readonly kind: 'value'; readonly value: unknown; readonly repair?: BareRepair }
  | { readonly kind: 'cut'; readonly value?: unknown }
  | { readonly kind: 'refused' };

/** Words for values; those that JSON has no value for become `null`, as in `JSON.stringify`. */
const LITERALS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['True', true],
  ['TRUE', true],
  ['False', false],
  ['FALSE', false],
  ['None', null],
  ['NULL', null],
  ['Null', null],
  ['nil', null],
  ['undefined', null],
  ['NaN', null],
  ['Infinity', null],
  ['-Infinity', null],
]);
const JSON_LITERALS = ['true', 'false', 'null'] as const;

/** Words, dates, addresses, paths: text without brackets, operators and calls. */
const PLAIN_TEXT = /^[\p{L}\p{N}_@#/~.][\p{L}\p{N}\p{M}_@#%/~. :'+&-]*$/u;
/** `process.env.HOME` and `new Date` are code; so is everything with `: ` in it a member that lost its comma. */
const CODE = /^[\p{L}_$][\w$]*(?:\.[\p{L}_$][\w$]*)+$|^(?:new|function|await|async|typeof|void|delete|class|this|return|lambda|not) |: |:$| [+&-] |\w\+\w/u;
const PLAIN_KEY = /^[\p{L}\p{N}_$@][\p{L}\p{N}\p{M}_$@ ./-]*$/u;
const LONGEST_KEY = 256;

/** A literal or number that is complete as it stands; undefined if the token is other text. */
export function readLiteralOrNumber(token: string, policy: ReaderPolicy): BareReading | undefined {
  if (LITERALS.has(token)) {
    const value = LITERALS.get(token);
    return isJsonLiteral(token) ? { kind: 'value', value } : { kind: 'value', value, repair: 'literal' };
  }
  const number = readNumber(token, policy.numbers);
  if (number === undefined) return undefined;
  return number.repaired ? { kind: 'value', value: number.value, repair: 'number' } : { kind: 'value', value: number.value };
}

/** Reads a whole unquoted token where a value is due. */
export function readBareText(token: string, atEnd: boolean, policy: ReaderPolicy): BareReading {
  const complete = readLiteralOrNumber(token, policy);
  if (complete !== undefined) return complete;
  if (atEnd || policy.bareText === 'any') {
    const number = readCutNumber(token, policy.numbers);
    if (number !== undefined) return { kind: 'value', value: number.value, repair: atEnd ? 'truncated' : 'number' };
  }
  if (policy.bareText === 'any') {
    return token === '-' || token === '.' ? { kind: 'value', value: 0, repair: 'number' } : unquoted(token);
  }
  if (atEnd) {
    const literal = JSON_LITERALS.find((word) => word.startsWith(token));
    if (literal !== undefined) return { kind: 'cut', value: LITERALS.get(literal) };
    if (token === '-') return { kind: 'cut' };
  }
  return PLAIN_TEXT.test(token) && !CODE.test(token) ? unquoted(token) : { kind: 'refused' };
}

/** Whether unquoted text may be the key of an object. */
export function isBareKey(token: string, policy: ReaderPolicy): boolean {
  if (token === '' || token.length > LONGEST_KEY) return false;
  return policy.bareText === 'any' || PLAIN_KEY.test(token);
}

function unquoted(token: string): BareReading {
  return { kind: 'value', value: token, repair: 'unquoted_string' };
}

function isJsonLiteral(token: string): boolean {
  return JSON_LITERALS.some((word) => word === token);
}
