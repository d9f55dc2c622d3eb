import { SluiceError } from '../base/index.js';

/** A text or its bytes in UTF-8; what is missing counts as empty. */
export type TextInput = string | Uint8Array | null | undefined;

/** The rules to read by; `default` accepts whatever any of the others accepts. */
export type Profile = 'default' | 'generic' | 'tagged' | 'unified';

/**
 * Brings a parsed value into the schema's shape before validation, for example by mapping field names. Runs in the
 * order given; one that throws ends the parse with `NORMALIZER_FAILED`.
 */
export type Normalizer = (value: unknown) => unknown;

/** Bounds on the work one text may cause. */
export interface Limits {
  /** Longest text read, in UTF-8 bytes at most. Default 64 MiB. */
  readonly bytes?: number;
  /** Deepest nesting of the value. Default 1000. */
  readonly depth?: number;
  /** Most candidates read. Default 256. */
  readonly candidates?: number;
}

/** Options of `parse` and everything built on it. */
export interface ParseOptions {
  readonly profile?: Profile;
  /** Accept a value that was cut off. Default false: it is an error, `TRUNCATED`. */
  readonly allowPartial?: boolean;
  /** Bring near misses into the schema's shape; needs a schema from `sluice/json-schema`. Default false. */
  readonly align?: boolean;
  /** Take the first or the last candidate that passes, wherever it stands, instead of the default order. */
  readonly prefer?: 'first' | 'last';
  /** What to do if several values pass that differ: `warn` (default), or fail with `AMBIGUOUS`. */
  readonly ambiguous?: 'warn' | 'fail';
  readonly normalizers?: readonly Normalizer[];
  /** Says in messages whose output this was: `research/valuation`. */
  readonly label?: string;
  readonly limits?: Limits;
  /** `bigint`: integers a double cannot hold. `raw`: numbers a double cannot hold, as their source text. */
  readonly numbers?: 'double' | 'bigint' | 'raw';
  /** Warn about duplicate keys in valid JSON too; costs the fast path. Default false. */
  readonly detectDuplicates?: boolean;
}

const NUMBER = 'a number from 0';
/** What each option may be: words, or a kind of value; `any` is not checked. */
const OPTIONS: Readonly<Record<keyof ParseOptions, string>> = {
  profile: 'default|generic|tagged|unified',
  allowPartial: 'boolean',
  align: 'boolean',
  prefer: 'first|last',
  ambiguous: 'warn|fail',
  normalizers: 'list',
  label: 'any',
  limits: 'object',
  numbers: 'double|bigint|raw',
  detectDuplicates: 'boolean',
};

/** Refuses options that do not exist or have a value they cannot have. */
export function checkOptions(options: object | null, known: Readonly<Record<string, string>> = OPTIONS): void {
  for (const [name, value] of Object.entries(options ?? { null: 0 })) {
    const allowed = Object.hasOwn(known, name) ? known[name] : undefined;
    if (allowed === undefined)
      throw new SluiceError('INVALID_OPTION', `unknown option ${name}; known: ${Object.keys(known).join(', ')}`);
    if (value !== undefined && !isOfKind(value, allowed))
      throw new SluiceError('INVALID_OPTION', `${name} must be ${allowed}`);
  }
}

/** Nothing is more than `NaN`: as a limit it would be no limit at all. */
function isOfKind(value: unknown, allowed: string): boolean {
  if (allowed === NUMBER) return typeof value === 'number' && value >= 0;
  const kind = Array.isArray(value) ? 'list' : typeof value === 'string' ? value : typeof value;
  return allowed === 'any' || allowed.split('|').includes(kind);
}

/** The bounds in force: those given, and the defaults for the rest. */
export function resolveLimits(limits?: Limits): Required<Limits> {
  if (limits === undefined) return DEFAULTS;
  checkOptions(limits, { bytes: NUMBER, depth: NUMBER, candidates: NUMBER });
  const { bytes = DEFAULTS.bytes, depth = DEFAULTS.depth, candidates = DEFAULTS.candidates } = limits;
  return { bytes, depth, candidates };
}

const DEFAULTS: Required<Limits> = { bytes: 67_108_864, depth: 1000, candidates: 256 };
