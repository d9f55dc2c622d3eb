/** The location of a part of a value: object keys and array indexes, outermost first. */
export type Path = readonly (string | number)[];

/**
 * Every kind of repair that the readers make. A closed list:
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

/** One change made to the text, and its UTF-16 offset in the input. */
export interface Repair {
  readonly kind: RepairKind;
  readonly message: string;
  readonly offset: number;
  /** At most a thousand are listed; the last one counts how many more there were. */
  readonly omitted?: number;
}

/** Creates the record of a repair. The message is the kind without underscores; `docs/errors.md` explains each kind. */
export function createRepair(kind: RepairKind, offset: number): Repair {
  return { kind, message: kind.replaceAll('_', ' '), offset };
}

/** Kinds of repairs that are allowed. */
export type RepairSet = ReadonlySet<RepairKind>;
