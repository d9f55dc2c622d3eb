import * as State from './state.js';
import * as Step from './step.js';
import { LOOK_BEHIND, MAX_ESCAPE_LENGTH, MAX_LOOKAHEAD, NEXT_TOKEN_WINDOW } from '../bounds.js';
import {
  CODE_ESCAPE,
  COMMAND_NAME,
  CUT_ESCAPE,
  DRIVE,
  ESCAPED,
  ESCAPED_ESCAPE,
  ESCAPE_LETTERS,
  HEX_ESCAPE,
  MARKDOWN_ESCAPE,
  MARKDOWN_ESCAPES,
  NETWORK_PATH,
  PATH_IN_SENTENCE,
  REST_OF_WORD,
  STICKY_COMMAND,
  UNKNOWN_ESCAPE,
} from './backslash-rules.js';
import { isQuote, type QuoteStyle, getQuoteStyle } from './character.js';
import { judgeQuote, type StringContext } from './judge-quote.js';
import { TextBuilder, type Source } from './source.js';

/** The separator between a string without an end quote and the next quote, with the filler around it. */
const SEPARATOR = /(?:\s|\/\*[^*\\]*\*\/)*([,+:]|\n)(?:\s|\/\*[^*\\]*\*\/)*$/;
const SEPARATORS = { [State.ROOT]: '+', [State.KEY]: ':', [State.MEMBER]: ',+\n', [State.ITEM]: ',+' } as const;
/** The second of two opening quotes, if two quotes also close the string. */
const DOUBLED = /"[^"\n]{1,250}""/y;
const KEY_END = /.\s{0,64}([:：=]|$)/y;
/** A quote that opens the next key, item or operand. */
const NEXT_TOKEN = {
  [State.MEMBER]: /.[^"\n]{0,256}"\s{0,64}:/y,
  [State.ITEM]: /.[^",\n]{0,256}"\s{0,64}[,\]]/y,
} as const;
const NEXT_OPERAND = /.[^"\n]{0,256}"\s{0,64}(?:[,}\]]|$)/y;
/** Brackets and a fence at the end of the input. */
const TAIL = /\s*([}\]][\s}\]]{0,256}(```\s*)?|\n```\s*)$/;
const BARE_MEMBER_BEFORE = /,\s{1,9}[A-Za-z_]\w{0,30}:\s{0,9}$/;
/** A closing quote without an opening one. `24" wide` is a measure, `the boys' house` a genitive. */
const END_OF_WORD = /^([\p{L}.!?)]([^'’][ "]|. ')|[\p{L}\p{N}.!?)][^'’][,:;.])/u;

/** A quoted string being read. Keeps its position when the input runs out, even inside an escape. */
export class StringToken {
  /** Offset of the opening quote in the whole input. */
  declare readonly offset: number;
  /** The end quote was missing, and this separator after the string was already consumed. */
  separator = '';
  unescapedSeen = false;
  /** Quotes that were judged content. */
  #innerQuotes = 0;
  /** `"x" or "y"`, `"x", y"`: the string seems to have ended earlier, although what follows is not valid. */
  #endSeen = false;
  readonly #source: Source;
  readonly #style: QuoteStyle;
  readonly #escapedQuotes: boolean;
  /** The number of quotes that end it: three for Python's triple-quoted strings, two if all quotes are doubled. */
  #closingQuotes = 1;
  #controlSeen = false;
  #escapeSeen = false;
  /** The meaning of the string's backslashes, determined at the first one before a letter. */
  #backslashes: typeof State.ESCAPES | typeof State.FORMULA | typeof State.PATH | undefined;
  /** Where a path inside a sentence ends. */
  #pathEnd = 0;
  /** Inside `\begin{…}`, where two backslashes are a line break. */
  #inEnvironment = false;
  /** After an unescaped quote, brackets opened inside the string must be closed before it can end. */
  #openBrackets = 0;
  /** The decoded content so far. Only appended to: reading it would copy it for every chunk. */
  #content = new TextBuilder();
  #lastCode = 0;
  /** White space was read: the string is not one path. */
  #spaceSeen = false;

  /** Starts at the opening quote, or at the backslash before it. */
  constructor(source: Source) {
    const { base, at } = source;
    this.#source = source;
    this.#escapedQuotes = source.char() === '\\';
    const length = this.#escapedQuotes ? 2 : 1;
    const quote = source.char(length - 1);
    this.#style = getQuoteStyle(quote);
    if (this.#escapedQuotes) source.repair('escaped_quotes', at, length);
    if (quote !== '"') source.repair('quote_style', at, length);
    this.offset = base + at;
    source.at += length;
  }

  read(context: StringContext): Step.StepResult {
    const source = this.#source;
    const { plain, closers } = this.#style;
    for (;;) {
      const length = source.matchHere(plain);
      if (length > 0) this.#append(length, source.text.slice(source.at, source.at + length));
      const char = source.char();
      if (char === '') return source.final ? Step.CUT : Step.WAIT;
      const progress =
        char === '\\'
          ? this.#readEscape()
          : closers.includes(char)
            ? this.#readQuote(char, context)
            : this.#readControl();
      if (progress !== Step.CONTINUE) return progress;
    }
  }

  /** The content without half a surrogate pair at its end, shown before the string is finished. */
  get shown(): string {
    return (this.#lastCode & 0xfc00) === 0xd800 ? this.#content.withoutLast : this.decoded;
  }

  get decoded(): string {
    return this.#content.text;
  }

  /** Whether its end was guessed, or it is code: a template literal with a placeholder. */
  get isDoubtful(): boolean {
    // Two strings on two lines, the second indented: Python joins them; they are not one string with a quotation.
    if (this.unescapedSeen && /^(?:[^"]*\s)?"[^"]*$|"\s*\n[ \t]+"/.test(this.decoded)) return true;
    return this.#endSeen || (this.#style.closers.includes('`') && this.decoded.includes('${'));
  }

  /**
   * Called when the input ends inside the string: brackets and a fence at the very end belong to the surrounding
   * structure. Returns whether only the end quote is missing: a line break is followed by the brackets that close
   * everything open.
   */
  endCut(depth: number): boolean {
    const source = this.#source;
    const [tail = ''] = TAIL.exec(this.decoded.slice(-MAX_LOOKAHEAD)) ?? [];
    const before = this.decoded.slice(0, this.decoded.length - tail.length);
    const isWhole = tail.includes('\n') && tail.replace(/[^}\]]/g, '').length === depth && !tail.includes('`');
    // Brackets opened inside the string are closed there.
    if (tail === '' || (!isWhole && /[[{]/.test(before))) return false;
    this.#cut(tail.length);
    if (!isWhole) return false;
    source.at = source.text.length - tail.length;
    source.repair('missing_quote');
    return true;
  }

  #readControl(): Step.StepResult {
    if (!this.#controlSeen) this.#source.repair('control_character');
    this.#controlSeen = true;
    return this.#append(1);
  }

  #readQuote(quote: string, context: StringContext): Step.StepResult {
    const source = this.#source;
    const { text, at } = source;
    const isKey = context.role === State.KEY;
    const closing = this.#closingQuotes;
    if (closing > 1) {
      if (!source.has(closing)) return Step.WAIT;
      return text.startsWith(quote.repeat(closing), at) ? this.#end(closing) : this.#append(1);
    }
    if (this.decoded === '' && (this.#style.closers === quote || quote === '`')) {
      if (!source.has(2)) return Step.WAIT;
      // Three quotes in a row: a triple-quoted Python string.
      if (text[at + 1] === quote && text[at - 1] === quote) {
        source.repair('quote_style', at - 1, 3);
        this.#closingQuotes = 3;
        source.at += 2;
        // The language tag after a fence.
        if (quote === '`') source.at += Math.max(0, source.matchHere(/[\w+-]{0,32}\n/y));
        return Step.CONTINUE;
      }
      if ((isKey || context.doublesQuotes) && /\w/.test(text.charAt(at + 1))) {
        const length = source.matchHere(DOUBLED);
        if (length === -1 && !source.has(MAX_LOOKAHEAD)) return Step.WAIT;
        if (length !== -1) {
          source.repair('quote_style', at - 1, 2);
          this.#closingQuotes = 2;
          context.doublesQuotes = true;
          source.at++;
          return Step.CONTINUE;
        }
      }
    }
    const isEnd = judgeQuote(text, at + 1, source.final, context, this.#innerQuotes % 2 === 1);
    if (isEnd === undefined) return Step.WAIT;
    if (this.#openBrackets === 0) {
      const endStep = isEnd && !isKey ? Step.CONTINUE : this.#endBefore(context);
      if (endStep !== Step.CONTINUE) return endStep;
      if (isEnd) {
        // A key with a colon inside contains its value, if it was repaired or no other colon follows.
        const containsColon = isKey && this.decoded.includes(':');
        this.#endSeen ||= containsColon && (this.unescapedSeen || source.matchHere(KEY_END) === -1);
        return this.#end(1);
      }
    }
    if (!this.unescapedSeen) {
      source.repair('unescaped_quote');
      const word = this.decoded.slice(-LOOK_BEHIND);
      this.#endSeen =
        (END_OF_WORD.test(text.slice(at - 1, at + 3)) && !/„[^“”]*$/.test(word)) ||
        (text[at + 1] === '"' && /\p{L}\S*$/u.test(word));
      this.unescapedSeen = true;
      this.#countBrackets(this.decoded);
    }
    this.#innerQuotes++;
    return this.#append(1);
  }

  /** `"a": "text, "b": 1`: if this quote opens the next key, item or operand, the end quote of this string is missing. */
  #endBefore({ role }: StringContext): Step.StepResult {
    const source = this.#source;
    const { text, at } = source;
    if (/[^\s,+:/]/.test(text.charAt(at - 1))) return Step.CONTINUE;
    const before = text.slice(Math.max(0, at - LOOK_BEHIND), at);
    const [filler = '', separator = ''] = SEPARATOR.exec(before) ?? [];
    // `"a": "text, b: "x"`: the quote opens the value of the next member, whose key has no quotes.
    const isMember = separator === ':' && role === State.MEMBER && !this.unescapedSeen;
    const [member = ''] = (isMember ? BARE_MEMBER_BEFORE.exec(before) : undefined) ?? [];
    if (
      member === '' &&
      (separator === '' || !SEPARATORS[role].includes(separator) || source.matchHere(KEY_END) !== -1)
    )
      return Step.CONTINUE;
    const isOperand = member !== '' || separator === '+' || role === State.KEY || role === State.ROOT;
    const length = source.matchHere(isOperand ? NEXT_OPERAND : NEXT_TOKEN[role]);
    // More input might arrive.
    const isOpen = length === -1 ? text.length - at <= NEXT_TOKEN_WINDOW : at + length === text.length;
    if (isOpen && !source.final) return Step.WAIT;
    if (length === -1) return Step.CONTINUE;
    source.repair('missing_quote');
    // One of the quotes inside was more likely the end.
    this.#endSeen ||= this.#innerQuotes % 2 === 1;
    this.#cut((member || filler).length);
    source.at -= member.length;
    if (member === '') this.separator = separator.trim();
    return Step.DONE;
  }

  #end(length: number): Step.StepResult {
    this.#content.join();
    this.#source.at += length;
    return Step.DONE;
  }

  /** Removes content that was read past the end. */
  #cut(length: number): void {
    const { text, at } = this.#source;
    // A quote of the other kind, or after the last backslash of a path, was meant to end the string; lines of structure
    // are not part of it.
    const isEscaped = text.slice(0, at - length).endsWith('\\"');
    const content = this.decoded
      .slice(0, -length)
      .trimEnd()
      .replace(/^([^'"]*)['"]$/, (_, inner: string) =>
        isEscaped && /^[a-z]:$|\\/i.test(inner) ? `${inner}\\` : inner,
      );
    this.#endSeen ||= /\n[^\S\n]*["'}\]]/.test(content);
    this.#content = new TextBuilder();
    this.#content.append(content);
  }

  #readEscape(): Step.StepResult {
    const source = this.#source;
    if (source.matchHere(CUT_ESCAPE) !== -1 || (this.#escapedQuotes && !source.has(MAX_ESCAPE_LENGTH))) {
      if (source.final) source.at = source.text.length;
      return source.final ? Step.CUT : Step.WAIT;
    }
    if (this.#escapedQuotes) {
      if (this.#style.closers.includes(source.char(1))) return this.#end(2);
      source.at += Math.max(0, source.matchHere(ESCAPED_ESCAPE));
    }
    const { text, at } = source;
    const next = source.char(1);
    if (next === '\\' && this.decoded === '' && source.matchHere(NETWORK_PATH) !== -1) {
      if (!source.final && source.at + source.matchHere(NETWORK_PATH) === text.length) return Step.WAIT;
      source.repair('invalid_escape');
      this.#backslashes = State.PATH;
      return this.#append(2, '\\\\');
    }
    if (next === '\\' && this.#inEnvironment) {
      if (!source.has(3)) return Step.WAIT;
      if (/[^a-z\\]/i.test(source.char(2))) return this.#append(2, '\\\\');
    }
    // File names contain no quotes.
    if (next === '"' && this.#backslashes === State.PATH) return this.#append(1);
    if ('_*#'.includes(next) && (this.#backslashes ?? State.ESCAPES) === State.ESCAPES) {
      const length = Math.min(source.matchHere(this.#style.rest), LOOK_BEHIND);
      if (length < LOOK_BEHIND && !source.has(length + 1)) return Step.WAIT;
      const start = Math.max(this.offset - source.base, at - LOOK_BEHIND);
      const window = text.slice(start, at + length);
      const isLiteral = this.#escapeSeen || source.formulas || window.slice(0, at - start).includes('\\\\');
      MARKDOWN_ESCAPE.lastIndex = at - start;
      if (!isLiteral && MARKDOWN_ESCAPE.test(window) && MARKDOWN_ESCAPES.test(window.slice(at - start))) {
        source.repair('invalid_escape');
        return this.#append(2, next);
      }
    }
    const isLetter = /[a-z]/i.test(next);
    if (isLetter && source.allowed('invalid_escape')) {
      const isEscape = this.#backslashes === undefined && this.#isPlainEscape(next);
      if (isEscape === undefined) return Step.WAIT;
      if (!isEscape && !this.#judgeBackslashes()) return Step.WAIT;
    }
    const isFormula = this.#escapeSeen || this.#backslashes === State.FORMULA || source.formulas;
    // `\b` next to an invalid JSON escape is a word boundary.
    const isBoundary = next === 'b' && (this.#escapeSeen || this.#backslashes === State.FORMULA);
    const isCommand = isBoundary || (isFormula && source.matchHere(STICKY_COMMAND) !== -1);
    if (isLetter && DRIVE.test(text.slice(Math.max(0, at - 3), at))) {
      const length = source.matchHere(PATH_IN_SENTENCE);
      if (!source.has(length + 1)) return Step.WAIT;
      const path = text.slice(at, at + length);
      // If any backslash in the string is literal, the path's backslashes are too.
      const hasLiteral = this.#backslashes === State.FORMULA || UNKNOWN_ESCAPE.test(path) || /\\[bf][a-z]/.test(path);
      if (this.#pathEnd > 0 || hasLiteral) this.#pathEnd = source.base + at + length;
    }
    const isPath =
      this.#backslashes === State.PATH ||
      (source.base + at < this.#pathEnd &&
        /^.(?![nrt][^a-z\d_])/.test(text.slice(at, at + 3)) &&
        // A name with an extension is the last part of a path.
        !/\.\w{1,4}$/.test(text.slice(Math.max(0, at - 5), at)));
    if (isPath && next === 'u' && !source.has(7)) return Step.WAIT;
    const isKept = isCommand || (isLetter && isPath);
    if (isCommand && text.startsWith('\\begin{', at)) this.#inEnvironment = true;
    const simple = isKept ? -1 : ESCAPE_LETTERS.indexOf(next);
    if (simple !== -1) return this.#append(2, ESCAPED.charAt(simple));
    CODE_ESCAPE.lastIndex = at;
    const [escape = '', ...codes] = CODE_ESCAPE.exec(text) ?? [];
    if (!codes[0] && !this.#escapeSeen) {
      source.repair('invalid_escape');
      this.#escapeSeen = true;
    }
    // In a path, `\x64` is a folder name, and so are `\u1234567` and the name after the drive.
    if (escape !== '' && !(isPath && /:\\|^.\\(?:x|u\d{5})/.test(text.slice(at - 1, at + 7))))
      return this.#append(escape.length, String.fromCodePoint(Number(`0x${codes.join('')}`)));
    source.formulas ||= !isPath && source.matchHere(COMMAND_NAME) !== -1;
    // An escaped quote or line break loses its backslash; any other backslash is literal: `C:\dir`, `\d+`, `\alpha`,
    // `'\'`.
    const isEscaped = (isQuote(next) && text[at - 1] !== next) || next === '\n';
    return this.#append(2, isEscaped ? next : `\\${next}`);
  }

  /**
   * Whether nothing speaks for a path or a formula, so the escape can be decoded without looking at the rest of the
   * string: a stream must not stop at a line break. Undefined if a few more characters are needed.
   */
  #isPlainEscape(letter: string): boolean | undefined {
    const source = this.#source;
    const length = letter === 'u' ? 6 : 2;
    if (!'nrtu'.includes(letter)) return false;
    if (DRIVE.test(source.text.slice(Math.max(0, source.at - 3), source.at))) return false;
    if (!source.has(length + 1)) return undefined;
    if (letter === 'u' && source.matchHere(HEX_ESCAPE) === -1) return false;
    const follower = source.char(length);
    if (!/[\w.$\\-]/.test(follower)) return true;
    if (/[a-z]/.test(follower) && letter !== 'u') {
      if (!source.has(MAX_ESCAPE_LENGTH)) return undefined;
      if (source.matchHere(STICKY_COMMAND) !== -1) return false;
    }
    if (this.#spaceSeen) return true;
    const wordLength = source.matchHere(REST_OF_WORD);
    if (wordLength < MAX_LOOKAHEAD && !source.has(wordLength + 1)) return undefined;
    return /\s/.test(source.char(wordLength));
  }

  /**
   * Determines whether the string is a path or a formula, where backslashes are literal; returns false if more input is
   * needed.
   */
  #judgeBackslashes(): boolean {
    if (this.#backslashes) return true;
    const source = this.#source;
    const length = source.matchHere(this.#style.rest);
    if (length < MAX_LOOKAHEAD && !source.has(length + 1)) return false;
    const rest = source.text.slice(source.at, source.at + length);
    const hasUnknown = UNKNOWN_ESCAPE.test(rest);
    const isWord = !/\s/.test(this.decoded + rest);
    const isPath = /^[a-z]:$/i.test(this.decoded)
      ? hasUnknown || (isWord && !/^\\[nrt][A-Z]/.test(rest))
      : isWord && /\\[a-z].*\\[a-z]/i.test(rest) && (hasUnknown || /\\[bf][a-z]/.test(rest));
    this.#backslashes = isPath ? State.PATH : hasUnknown ? State.FORMULA : State.ESCAPES;
    return true;
  }

  #append(length: number, decodedText = this.#source.char()): Step.StepResult {
    this.#source.at += length;
    this.#content.append(decodedText);
    this.#lastCode = decodedText.charCodeAt(decodedText.length - 1);
    this.#spaceSeen ||= /\s/.test(decodedText);
    if (this.unescapedSeen) this.#countBrackets(decodedText);
    return Step.CONTINUE;
  }

  #countBrackets(decodedText: string): void {
    for (const [bracket] of decodedText.matchAll(/[[\]{}]/g))
      this.#openBrackets = Math.max(0, this.#openBrackets + (bracket === '[' || bracket === '{' ? 1 : -1));
  }
}
