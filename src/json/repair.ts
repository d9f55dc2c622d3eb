/** A location inside a value: object keys and array indexes, outermost first. */
export type Path = readonly (string | number)[];

/** Every kind of repair the readers can make. A closed list: `docs/errors.md` explains each one. */
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

/** One change to the input, with its UTF-16 offset. */
export interface Repair {
  readonly kind: RepairKind;
  readonly message: string;
  readonly offset: number;
  /** At most a thousand repairs are listed; the last one counts the rest. */
  readonly omitted?: number;
}

/** The messages of the kinds used so far: a text can have a thousand repairs of one kind. */
const messages: Partial<Record<RepairKind, string>> = {};

/** Creates a repair record. The message is the kind without underscores; `docs/errors.md` explains each kind. */
export function createRepair(kind: RepairKind, offset: number): Repair {
  return { kind, message: (messages[kind] ??= kind.replaceAll('_', ' ')), offset };
}

/** Whether a repair is allowed. */
export type RepairSet = (kind: RepairKind) => boolean;
