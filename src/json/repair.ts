/** A place inside a value: object keys and array indexes, outermost first. */
export type Path = readonly (string | number)[];

/**
 * Every kind of change the readers make to get from the text to a value. A closed list:
 * `docs/errors.md` explains each one.
 */
export const REPAIR_KINDS = [
  'noise',
  'extracted',
  'whitespace',
  'comment',
  'markdown',
  'missing_comma',
  'extra_comma',
  'missing_colon',
  'missing_value',
  'missing_bracket',
  'extra_bracket',
  'quote_style',
  'missing_quote',
  'unescaped_quote',
  'unquoted_key',
  'unquoted_string',
  'escaped_quotes',
  'invalid_escape',
  'control_character',
  'punctuation',
  'literal',
  'number',
  'concatenation',
  'ellipsis',
  'function_call',
  'several_values',
  'truncated',
] as const;

/** One of {@link REPAIR_KINDS}. */
export type RepairKind = (typeof REPAIR_KINDS)[number];

/** One change made to the text, and where (a UTF-16 offset into the text that was given). */
export interface Repair {
  readonly kind: RepairKind;
  readonly message: string;
  readonly offset: number;
  /** A thousand are listed; the last of them counts how many more were made. */
  readonly omitted?: number;
}

/** Once: a text may need thousands of repairs. */
const MESSAGES = Object.fromEntries(REPAIR_KINDS.map((kind) => [kind, kind.replaceAll('_', ' ')]));

/** The record of a repair; its message is its kind in plain words, the page on errors says more. */
export function repairAt(kind: RepairKind, offset: number): Repair {
  return { kind, message: MESSAGES[kind] ?? kind, offset };
}

/** Kinds of repairs that are allowed. */
export type RepairSet = ReadonlySet<RepairKind>;
