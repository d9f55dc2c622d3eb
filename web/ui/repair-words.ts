import type { RepairKind } from '../../src/json/index.js';

/** What was done, for a person; `docs/errors.md` says more. */
export const REPAIR_WORDS: Readonly<Record<RepairKind, string>> = {
  extracted: 'cut out of a longer text',
  whitespace: 'a space JSON does not know',
  comment: 'a comment skipped',
  markdown: 'Markdown skipped',
  missing_comma: 'a comma added',
  extra_comma: 'a comma too many dropped',
  missing_colon: 'a colon added',
  missing_value: 'a key without a value dropped',
  missing_bracket: 'an open bracket closed',
  extra_bracket: 'a bracket too many dropped',
  quote_style: 'other quotes read as double quotes',
  missing_quote: 'a quote added',
  unescaped_quote: 'a quote kept as part of the string',
  unquoted_key: 'a key without quotes',
  unquoted_string: 'a string without quotes',
  escaped_quotes: 'escaped quotes read as quotes',
  invalid_escape: 'an unknown escape read as its character',
  control_character: 'a control character kept in a string',
  punctuation: 'foreign punctuation read as JSON’s',
  literal: 'a literal of Python or JavaScript',
  number: 'a number in another notation',
  concatenation: 'strings joined by + joined',
  ellipsis: 'an ellipsis dropped',
  function_call: 'a wrapper around the value taken off',
  several_values: 'several values made a list',
  truncated: 'closed where the text ends',
};

/** What was done, by the word the wire has for it; undefined for one that is not known here. */
export function wordsOfRepair(kind: string): string | undefined {
  const words: Readonly<Record<string, string>> = REPAIR_WORDS;
  return Object.hasOwn(words, kind) ? words[kind] : undefined;
}
