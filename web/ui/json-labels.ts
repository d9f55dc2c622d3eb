import type { RepairKind, RepairLevel, Profile } from '../../src/json/index.js';
import { t } from '../app/texts.js';

/** Repair level labels, identical on every page. */
export const LEVEL_LABELS: Readonly<Record<RepairLevel, string>> = {
  none: t.unchanged,
  deterministic_generic: t.repaired,
  schema_aligned: t.aligned,
};

/** Descriptions of repairs; `docs/errors.md` has more details. */
export const REPAIR_DESCRIPTIONS: Readonly<Record<RepairKind, string>> = {
  noise: t.noiseFromATerminalEditor,
  extracted: t.extractedFromSurroundingText,
  whitespace: t.whitespaceThatJsonDoesNot,
  comment: t.commentSkipped,
  markdown: t.markdownSkipped,
  missing_comma: t.missingCommaAdded,
  extra_comma: t.extraCommaRemoved,
  missing_colon: t.missingColonAdded,
  missing_value: t.keyWithoutAValueRemoved,
  missing_bracket: t.openBracketClosed,
  extra_bracket: t.extraBracketRemoved,
  quote_style: t.nonStandardQuotesReadAs,
  missing_quote: t.missingQuoteAdded,
  unescaped_quote: t.unescapedQuoteReadAsPart,
  unquoted_key: t.unquotedKeyReadAsA,
  unquoted_string: t.unquotedTextReadAsA,
  escaped_quotes: t.escapedQuotesReadAsQuotes,
  invalid_escape: t.unknownEscapeReadAsIts,
  control_character: t.controlCharacterKeptInA,
  punctuation: t.nonAsciiPunctuationReadAs,
  literal: t.pythonOrJavascriptLiteralConverted,
  number: t.numberInNonJsonNotation,
  concatenation: t.stringsJoinedByCombined,
  ellipsis: t.ellipsisRemoved,
  function_call: t.wrapperAroundTheValueRemoved,
  several_values: t.multipleValuesCombinedIntoA,
  truncated: t.truncatedValueClosed,
};

/** Describes a repair by its kind; undefined for an unknown kind. */
export function describeRepair(kind: string): string | undefined {
  const descriptions: Readonly<Record<string, string>> = REPAIR_DESCRIPTIONS;
  return Object.hasOwn(descriptions, kind) ? descriptions[kind] : undefined;
}

/** Profile descriptions. */
export const PROFILES: Readonly<Record<Profile, string>> = {
  default: t.findsTheAnswerAnywhereTags,
  generic: t.readsTheWholeOutputAn,
  tagged: t.readsOnlyTheLastJson,
  unified: t.readsTheWholeOutputA,
};

/** Whether a profile has this name. */
export function isProfile(name: string): name is Profile {
  return Object.hasOwn(PROFILES, name);
}
