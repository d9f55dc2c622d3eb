import type { RepairKind, RepairLevel, Profile } from '../../src/json/index.js';

/** Repair level labels, identical on every page. */
export const LEVEL_LABELS: Readonly<Record<RepairLevel, string>> = {
  none: 'Unchanged',
  deterministic_generic: 'Repaired',
  schema_aligned: 'Aligned',
};

/** Descriptions of repairs; `docs/errors.md` has more details. */
export const REPAIR_DESCRIPTIONS: Readonly<Record<RepairKind, string>> = {
  noise: 'Noise from a terminal, editor or web page removed',
  extracted: 'Extracted from surrounding text',
  whitespace: 'Whitespace that JSON does not allow skipped',
  comment: 'Comment skipped',
  markdown: 'Markdown skipped',
  missing_comma: 'Missing comma added',
  extra_comma: 'Extra comma removed',
  missing_colon: 'Missing colon added',
  missing_value: 'Key without a value removed',
  missing_bracket: 'Open bracket closed',
  extra_bracket: 'Extra bracket removed',
  quote_style: 'Non-standard quotes read as double quotes',
  missing_quote: 'Missing quote added',
  unescaped_quote: 'Unescaped quote read as part of the string',
  unquoted_key: 'Unquoted key read as a string',
  unquoted_string: 'Unquoted text read as a string',
  escaped_quotes: 'Escaped quotes read as quotes',
  invalid_escape: 'Unknown escape read as its character',
  control_character: 'Control character kept in a string',
  punctuation: 'Non-ASCII punctuation read as JSON punctuation',
  literal: 'Python or JavaScript literal converted',
  number: 'Number in non-JSON notation converted',
  concatenation: 'Strings joined by + combined',
  ellipsis: 'Ellipsis removed',
  function_call: 'Wrapper around the value removed',
  several_values: 'Multiple values combined into a list',
  truncated: 'Truncated value closed',
};

/** Describes a repair by its kind; undefined for an unknown kind. */
export function describeRepair(kind: string): string | undefined {
  const descriptions: Readonly<Record<string, string>> = REPAIR_DESCRIPTIONS;
  return Object.hasOwn(descriptions, kind) ? descriptions[kind] : undefined;
}

/** Profile descriptions. */
export const PROFILES: Readonly<Record<Profile, string>> = {
  default: 'Finds the answer anywhere (tags, fences, envelopes, prose) and repairs its syntax.',
  generic: 'Reads the whole output, an envelope, a fence or the first object. Repairs nothing.',
  tagged: 'Reads only the last <json> block. Without one, the output becomes a comment.',
  unified:
    'Reads the whole output, a fence or the first object. The value must be an object, and only control characters are repaired.',
};

/** Whether a profile has this name. */
export function isProfile(name: string): name is Profile {
  return Object.hasOwn(PROFILES, name);
}
