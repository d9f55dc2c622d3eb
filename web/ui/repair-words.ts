import type { RepairKind } from '../../src/json/index.js';

/** Descriptions of repairs, for people; `docs/errors.md` says more. */
export const REPAIR_WORDS: Readonly<Record<RepairKind, string>> = {
  noise: 'terminal, editor or web page artifacts removed',
  extracted: 'extracted from a longer text',
  whitespace: 'whitespace that JSON does not allow',
  comment: 'a comment skipped',
  markdown: 'Markdown skipped',
  missing_comma: 'a comma added',
  extra_comma: 'an extra comma removed',
  missing_colon: 'a colon added',
  missing_value: 'a key without a value removed',
  missing_bracket: 'an open bracket closed',
  extra_bracket: 'an extra bracket removed',
  quote_style: 'non-standard quotes read as double quotes',
  missing_quote: 'a quote added',
  unescaped_quote: 'a quote kept as part of the string',
  unquoted_key: 'a key without quotes',
  unquoted_string: 'a string without quotes',
  escaped_quotes: 'escaped quotes read as quotes',
  invalid_escape: 'an unknown escape read as its character',
  control_character: 'a control character kept in a string',
  punctuation: 'non-ASCII punctuation read as JSON punctuation',
  literal: 'a Python or JavaScript literal',
  number: 'a number in another notation',
  concatenation: 'strings joined with +',
  ellipsis: 'an ellipsis removed',
  function_call: 'a wrapper around the value stripped',
  several_values: 'several values combined into a list',
  truncated: 'truncated text closed at its end',
};

/** Describes a repair by its kind; undefined for an unknown kind. */
export function describeRepair(kind: string): string | undefined {
  const words: Readonly<Record<string, string>> = REPAIR_WORDS;
  return Object.hasOwn(words, kind) ? words[kind] : undefined;
}
