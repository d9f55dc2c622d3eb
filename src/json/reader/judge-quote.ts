import * as State from './state.js';

/** The role of a string, and the structure around it. */
export interface StringContext {
  readonly role: State.Role;
  /** The number of open containers around the string, and whether any differs in kind from the innermost. */
  readonly builder: { readonly openDepth: number; readonly otherAbove: boolean };
  /** Only white space and comments may follow the root value. */
  readonly rootMustEnd: boolean;
  readonly insideCall: boolean;
  /** Keys are in doubled quotes, so strings are too. */
  doublesQuotes: boolean;
}

// Building blocks of the patterns below. All repetitions except the digits of a decimal key are bounded, so the cost of
// judging a quote does not grow with the input. `~` is a placeholder for the end of the input, which `createPatterns`
// replaces.
export const SPACE = /[\s\u200b]{0,512}/.source;
const NEW_LINE = /[^\S\n]{0,256}\n\s{0,256}/.source;
const QUOTE = /["'`´‘’“”„＂＇]/.source;
const COMMENT = /\/\/|\/\*|#|\/~|<(?:!--|!?-?~)/.source;
const COMMA = /[,，、]/.source;
/** The inside of a character class: what can follow a value. */
const ENDS = /,，、}｝\]］/.source;
const COLON = /[:：]/.source;
const BRACE = /[}｝]/.source;
const BRACKET = /\\?[\]］]/.source;
const LITERAL =
  /(?:true|false|null|True|False|None|undefined|NaN|-?Infinity|0[xX][\da-fA-F]{1,64}|[+-]?\.?\d[\d_.eE+-]{0,64})(?=[\s,\]}]|~)/
    .source;
const QUOTED = /\\?(?:"(?:[^"\\\n]|\\.){0,256}"|'(?:[^'\\\n]|\\.){0,256}'|[“‘`][^\n”’"`]{0,256}[”’"`])/.source;
/** A key in quotes and its colon. */
export const QUOTED_KEY = `${QUOTED}${SPACE}[:：=]`;
/** A key whose rest has not arrived, or that has more than 256 characters. */
const CUT_KEY = `(?:${QUOTED}${SPACE}~|${/"(?:[^"\\\n]|\\.){0,256}\\?~|'(?:[^'\\\n]|\\.){0,256}\\?~|[“‘][^\n”’"]{0,256}~|"(?:[^"\\\n]|\\.){256}/.source})`;
const BARE_WORD = /(?:\d+\.\d+|[\w$\u0080-\uffff-]{1,128})["']?/.source;
const BARE_KEY = `${BARE_WORD}${SPACE}${COLON}`;
const CUT_BARE_KEY = `${BARE_WORD}${SPACE}(?:~|${COLON}${SPACE}~)`;
/** Prose can contain `, note:` too: on one line a bare key counts only with an unambiguous value. */
export const BARE_MEMBER = `${BARE_KEY}${SPACE}(?:${QUOTE}|[{[]|${LITERAL})`;
/**
 * A bare key with a word as its value. Prose can contain this too, so it counts only if no quotation is open inside the
 * string.
 */
const WORD_MEMBER = `${BARE_KEY}${SPACE}[\\w$.-]{1,64}(?:${SPACE}[,}]|\\s{0,64}~)`;
/** A key without its closing quote. */
const UNCLOSED_KEY = `"[\\w$-]{1,64}:${SPACE}["{[\\d]`;
/** An unquoted item reaches its comma or bracket before any quote; the rest of a quoted sentence does not. */
const BARE_ITEM = /[^,\]\n"“”]{0,256}(?:[,\]\n]|~)/.source;

/** The start of a key or literal that follows without a comma and whose rest has not arrived. */
const CUT_FOLLOWER = new RegExp(`${SPACE}(?:${CUT_KEY}|[a-zA-Z]{1,9}~)`.replaceAll('~', '$'), 'y');
/** Any character except a line break and the quote that closes a key. */
const NO_KEY_END = `(?:(?!${QUOTE}${SPACE}${COLON})[^\\n])`;

/**
 * Two patterns per context for what may follow the end of a string: one for complete input, one that also matches where
 * the input is cut off.
 */
const patterns: (readonly [RegExp, RegExp] | undefined)[] = [];

/**
 * Whether a quote ends its string, judged by what follows it; undefined if more input is needed. In valid JSON a
 * closing quote is followed by `:`, `,`, `}` or `]` and a matching continuation, so it is always judged an end; only in
 * invalid JSON can a quote be judged part of the content. `inQuotation`: an odd number of quotes was judged content, so
 * this quote might close the quotation that the last one opened.
 */
export function judgeQuote(
  text: string,
  followerStart: number,
  final: boolean,
  context: StringContext,
  inQuotation: boolean,
): boolean | undefined {
  const [certain, possible] = createPatterns(context, inQuotation);
  certain.lastIndex = possible.lastIndex = CUT_FOLLOWER.lastIndex = followerStart;
  if (certain.test(text)) return true;
  if (possible.test(text)) return final || undefined;
  return !final && context.role !== State.ROOT && CUT_FOLLOWER.test(text) ? undefined : false;
}

function createPatterns(context: StringContext, inQuotation: boolean): readonly [RegExp, RegExp] {
  const { role, builder, rootMustEnd, insideCall } = context;
  // A number for speed: it is computed for every string that is not plain.
  const kind =
    role * 64 +
    Math.min(builder.openDepth, 3) * 16 +
    Number(builder.otherAbove) * 8 +
    Number(rootMustEnd) * 4 +
    Number(insideCall) * 2 +
    Number(inQuotation);
  const compiled = patterns[kind];
  if (compiled) return compiled;
  const source = `${SPACE}(?:${writeFollowers(context, inQuotation)})|\\s{512}`;
  return (patterns[kind] = [
    new RegExp(source.replaceAll('~', '(?!)'), 'y'),
    new RegExp(source.replaceAll('~', '$'), 'y'),
  ]);
}

function writeFollowers(
  { role, builder: { openDepth: depth, otherAbove }, rootMustEnd, insideCall }: StringContext,
  inQuotation: boolean,
): string {
  const anyFollower = `[\`*_]{0,2}~|\`{3}|(?:\\*\\*|__)(?:[:}\\]]|,${SPACE}(?:~|["{[\\d-]))|${COMMENT}|\\+${SPACE}(?:~|${QUOTE}|${COMMENT})${insideCall ? '|\\)' : ''}`;
  /** A closing bracket is structure if more structure follows it. */
  const closing = (bracket: string, left: number): string => {
    if (left > 0) return `${bracket}(?:${SPACE}(?:~|[${ENDS}{[]|${QUOTE}|${COMMENT})|${NEW_LINE})`;
    return rootMustEnd
      ? `${bracket}(?:${SPACE}(?:[${ENDS};{[]|${anyFollower})|${NEW_LINE}|\\s[^"“”]{0,256}(?:~|(?<=[^]{256})))`
      : bracket;
  };
  /**
   * The other kind of bracket: if no container of that kind is open, it ends the string only at the end of the input or
   * before a key.
   */
  const closingOther = (bracket: string): string =>
    otherAbove ? closing(bracket, depth - 2) : `${bracket}${SPACE}(?:~|,${SPACE}${QUOTED_KEY})`;
  switch (role) {
    case State.KEY:
      return `[:：=${ENDS}{[\\\\]|${QUOTE}${SPACE}(?:~|[^\\s:：])|${LITERAL}|${NO_KEY_END}{0,256}(?:\\n|~)|${NO_KEY_END}{256}|${anyFollower}`;
    case State.MEMBER:
      return [
        closing(BRACE, depth - 1),
        closingOther(BRACKET),
        `(?:${COMMA}|;)${SPACE}(?:~|[}｝,，.…${otherAbove ? '\\]{' : ''}]|${COMMENT}|${QUOTED_KEY}|${CUT_KEY}|${BARE_MEMBER}|${CUT_BARE_KEY}${inQuotation ? '' : `|${WORD_MEMBER}|${UNCLOSED_KEY}`})`,
        // White space was matched before: matching long runs of it again would take seconds.
        `(?:${COMMA}|;)${NEW_LINE}${BARE_KEY}|(?=\\S)(?<=\\n${SPACE})(?:(?:${COMMA}${SPACE})?${BARE_KEY}|${CUT_KEY})`,
        QUOTED_KEY,
        anyFollower,
      ].join('|');
    case State.ITEM:
      return [
        `${COMMA}${SPACE}(?:~|[,，、.…{}｝[\\]］\\\\]|${QUOTE}|${COMMENT}|${BARE_ITEM})`,
        closing(BRACKET, depth - 1),
        closingOther(BRACE),
        `[{[]|(?=${LITERAL})${BARE_ITEM}|(?<=\\n\\s{0,64})${BARE_ITEM}`,
        // A missing comma is more likely only if this quote does not close a quotation inside the string.
        ...(inQuotation
          ? []
          : [`${COLON}|${COMMA}${SPACE}[tfn\\d-]|(?<=\\s)${QUOTE}|${QUOTE}${SPACE}(?:~|[^\\s,}\\]])`]),
        anyFollower,
      ].join('|');
    case State.ROOT:
      return `;|${COMMA}${SPACE}(?:~|${QUOTE}|[{[]|${BARE_ITEM})|(?<=\\n\\s{0,64})${QUOTE}|${anyFollower}`;
  }
}
