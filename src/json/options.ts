import { SluiceError } from '../base/index.js';

/** A string, or its bytes in UTF-8; `null` and `undefined` count as empty. */
export type TextInput = string | Uint8Array | null | undefined;

/** The parsing rules; `default` accepts everything that any other profile accepts. */
export type Profile = 'default' | 'generic' | 'tagged' | 'unified';

/**
 * Converts a parsed value to the shape that the schema expects before validation, for example by mapping field names.
 * Normalizers run in the order given; if one throws, the parse fails with `NORMALIZER_FAILED`.
 */
export type Normalizer = (value: unknown) => unknown;

/** Limits on the work that a single input can cause. */
export interface Limits {
  /** Maximum length of the input, in UTF-8 bytes. Default 64 MiB. */
  readonly bytes?: number;
  /** Maximum nesting depth of the value. Default 1000. */
  readonly depth?: number;
  /** Maximum number of candidates. Default 256. */
  readonly candidates?: number;
}

/** Options of `parse` and everything built on it. */
export interface ParseOptions {
  readonly profile?: Profile;
  /** Accept a value that was cut off. Default false: it is an error, `TRUNCATED`. */
  readonly allowPartial?: boolean;
  /** Convert near misses to match the schema; requires a schema from `sluice/json-schema`. Default false. */
  readonly align?: boolean;
  /**
   * Which value to return if different values pass and nothing decides between them. Default: fail with `AMBIGUOUS`, as
   * with `fail`, which also refuses a value that the words around it only put in doubt.
   */
  readonly ambiguous?: 'first' | 'last' | 'fail';
  /** `clean`: refuse a value that needed repairs or alignment; the error contains it. Default `repaired`. */
  readonly accept?: 'clean' | 'repaired';
  readonly normalizers?: readonly Normalizer[];
  /** Identifies the source of the output in messages: `research/valuation`. */
  readonly label?: string;
  readonly limits?: Limits;
  /**
   * How to return numbers that a double cannot represent. `bigint`: such integers as bigints, which `JSON.stringify(result)`
   * writes as strings. `raw`: such numbers as source text.
   */
  readonly numbers?: 'double' | 'bigint' | 'raw';
  /** Warn about duplicate keys in valid JSON too; this disables the fast path. Default false. */
  readonly detectDuplicates?: boolean;
}

const NUMBER = 'a non-negative number';
/** The allowed values of each option, or its type; `any` is not checked. */
export const OPTIONS: Readonly<Record<keyof ParseOptions, string>> = {
  profile: 'default|generic|tagged|unified',
  allowPartial: 'boolean',
  align: 'boolean',
  ambiguous: 'first|last|fail',
  accept: 'clean|repaired',
  normalizers: 'array',
  label: 'any',
  limits: 'object',
  numbers: 'double|bigint|raw',
  detectDuplicates: 'boolean',
};

/** Rejects unknown options and invalid values. */
export function checkOptions(options: object | null, known: Readonly<Record<string, string>> = OPTIONS): void {
  // `null` instead of an object is reported as an invalid option named null.
  const given: Readonly<Record<string, unknown>> = { ...(options ?? { null: 0 }) };
  for (const name in given) {
    const value = given[name];
    const allowed = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!allowed || (value !== undefined && !isAllowed(value, allowed)))
      throw new SluiceError(
        'INVALID_OPTION',
        `Invalid option ${name}. Expected: ${name === 'prefer' ? 'ambiguous' : (allowed ?? Object.keys(known).join(', '))}.`,
      );
  }
}

/**
 * Whether an option's value is allowed. `NaN` is rejected as a limit: no comparison with it is true, so it would limit
 * nothing.
 */
function isAllowed(value: unknown, allowed: string): boolean {
  if (allowed === NUMBER) return typeof value === 'number' && value >= 0;
  const actual = allowed.includes('|') ? value : Array.isArray(value) ? 'array' : typeof value;
  return allowed === 'any' || allowed.split('|').includes(actual as string);
}

/** Fills in the defaults for limits that were not given. */
export function resolveLimits(limits: Limits = DEFAULTS): Required<Limits> {
  if (limits !== DEFAULTS) checkOptions(limits, LIMITS);
  const { bytes = 67_108_864, depth = 1000, candidates = 256 } = limits;
  return { bytes, depth, candidates };
}

const DEFAULTS: Limits = {};
const LIMITS = { bytes: NUMBER, depth: NUMBER, candidates: NUMBER };
