import * as State from './state.js';
import * as Step from './step.js';
import { RUN_DEPTH } from '../bounds.js';
import { toAsciiPunctuation, isQuote, skipSpace } from './character.js';
import { AND_SO_ON, Filler } from './filler.js';
import { PLAIN_TOKENS, readPlainValue } from './plain-token.js';
import type { StringContext } from './judge-quote.js';
import { describeDepthLimit, type ReaderPolicy } from './reader-policy.js';
import type { Source } from './source.js';
import type { ValueBuilder } from './value-builder.js';

/** An ellipsis, with a remark after it. */
const DOTS = /(?:\.{3,}|…)(?:[ \t]+[^\n,\]}"']{1,60}(?=[\]}\n])|[ \t]*\([^)\n]{1,60}\))?/y;
/** An ellipsis whose remark has not arrived. */
const CUT_DOTS = /(?:\.{3,}|…)[ \t]*(?:\([^)\n]{0,60}|[^\n,\]}"'(]{0,61})$/y;

/**
 * The structure of a value while it is read: brackets, commas, colons, and where a token belongs. Each `step` reads one
 * structural character and repairs missing or superfluous ones. Consecutive plain tokens are read here; others are read
 * elsewhere and passed in.
 */
export class Structure implements StringContext {
  declare readonly builder: ValueBuilder;
  declare readonly rootMustEnd: boolean;
  /** Evidence of JSON was found beyond the first bracket: a key with its colon, an item, a nested bracket. */
  plausible = false;
  /** The role of the token that starts here. */
  role: State.Role = State.ROOT;
  /** An end quote was missing: from here on, each string is read as unquoted text, up to the next delimiter. */
  rereads = false;
  doublesQuotes = false;
  /** The string is the argument of a function call. */
  insideCall = false;
  declare protected readonly cursor: Source;
  protected state: State.State = State.ROOT;
  /** Where the root ended. */
  protected rootEnd = 0;
  protected rootCommaSeen = false;
  /** Handles anything after the root that is not a superfluous bracket or comma. */
  protected startNextRoot?(): Step.StructureStep;
  /** Whether to skip a closing bracket; `isOther`: it does not match the open bracket. */
  protected isSuperfluous?(isOther: boolean): boolean;
  readonly #policy: ReaderPolicy;
  readonly #filler: Filler;
  #commaOffset = 0;
  #keyWasBare = false;
  /** The next string is appended to the last. */
  #concatenating = false;
  /** An ellipsis and a comma were read: items before the next are missing. */
  #dotsSeen = false;

  constructor(cursor: Source, policy: ReaderPolicy, builder: ValueBuilder) {
    this.cursor = cursor;
    this.#policy = policy;
    this.builder = builder;
    this.#filler = new Filler(cursor);
    this.rootMustEnd = policy.rootMustEnd;
  }

  /** The root value is finished; more can follow only in `repairJson`, which accepts multiple roots. */
  get isComplete(): boolean {
    return this.state === State.END;
  }

  /** A key was read, but not yet its value. */
  get awaitsValue(): boolean {
    return this.state === State.COLON || this.state === State.MEMBER;
  }

  /** The token expected next, in the detail that `Filler` needs to recognize comments and fences. */
  get due(): State.Due {
    const { state, builder } = this;
    const isFirst = state === State.FIRST;
    if (state === State.ROOT || (isFirst && builder.openDepth === 1)) return state;
    return state === State.ITEM || state === State.MEMBER || (isFirst && builder.inArray) ? State.VALUE : State.OTHER;
  }

  /** Processes structural characters up to a token, or to the end of the input so far. */
  run(): Exclude<Step.StructureStep, typeof Step.CONTINUE> {
    for (;;) {
      const step = this.#step();
      if (step !== Step.CONTINUE) return step;
    }
  }

  /** Skips white space and comments to the next structural character and processes it. */
  #step(): Step.StructureStep {
    const { cursor, state } = this;
    const isOver = cursor.failure !== undefined || (this.isComplete && !this.rootMustEnd);
    const sourceChar = isOver ? '' : this.#filler.skip(this);
    if (sourceChar === '' || cursor.failure) return Step.WAIT;
    const char = toAsciiPunctuation(sourceChar);
    if (char !== sourceChar) cursor.repair('punctuation');
    if (char === '.' && !cursor.has(3)) return Step.WAIT;
    if (state === State.AFTER || state === State.END) return this.stepAfter(char);
    if (state === State.DOTS) return this.#stepDots(char);
    if (state === State.COLON) return this.#stepColon(char);
    return this.stepContent(char, state === State.KEY || (state === State.FIRST && !this.builder.inArray));
  }

  /** Skips words in place of further items. */
  skipElision(words: string, start: number): boolean {
    if (this.role !== State.ITEM || this.#policy.acceptsAnyText || AND_SO_ON.exec(words)?.index !== 0) return false;
    this.cursor.repair('ellipsis', start, words.length);
    this.state = State.AFTER;
    return true;
  }

  placeKey(key: string, offset: number, wasBare: boolean): void {
    if (this.cursor.failure) return;
    this.builder.setKey(key, offset);
    this.#keyWasBare = wasBare;
    this.state = State.COLON;
  }

  placeScalar(value: unknown): void {
    if (this.cursor.failure) return;
    const joined = this.#concatenating ? String(this.builder.last) + String(value) : value;
    if (this.#concatenating) this.builder.reopenLast();
    this.#concatenating = false;
    this.builder.place(joined);
    this.plausible = true;
    this.endValue();
  }

  /** The separator after the last placed token was read along with it. */
  passSeparator(separator: string): void {
    this.#concatenating = separator === '+';
    if (separator === ',') this.state = this.builder.inArray ? State.ITEM : State.KEY;
    else this.state = separator === ':' ? State.MEMBER : this.#valueRole;
  }

  /** Ends the input: closes open containers if the policy allows it. */
  finish(): void {
    if (this.isComplete) return;
    if (this.state === State.ROOT) this.refuse();
    this.cursor.repairEnd();
    if (this.cursor.failure) return;
    while (this.builder.openDepth > 0) this.builder.close();
    this.state = State.END;
  }

  /** Fails on invalid JSON that the reader must not repair. */
  protected refuse(): Step.StructureStep {
    this.cursor.fail();
    return Step.WAIT;
  }

  /** The role of a value at this position. */
  get #valueRole(): Exclude<State.Role, typeof State.KEY> {
    return this.builder.openDepth === 0 ? State.ROOT : this.builder.inArray ? State.ITEM : State.MEMBER;
  }

  /** Processes a character where a key or a value is expected. */
  protected stepContent(char: string, isKey: boolean): Step.StructureStep {
    this.role = isKey ? State.KEY : this.#valueRole;
    if (this.#dotsSeen && !',}]'.includes(char)) {
      // What follows the missing items cannot be placed: the value ends here.
      this.cursor.endHere();
      return Step.WAIT;
    }
    if (!isKey && (char === '{' || char === '['))
      return this.#readRun() ? Step.CONTINUE : this.#openContainer(char === '[');
    if (!(isKey ? ':;({[,}]' : ':;(,}])').includes(char))
      return this.#readPlainTokens() ? Step.CONTINUE : this.#stepToken(char);
    if (isKey && char === '{' && this.builder.otherAbove && (this.state === State.KEY || this.#policy.acceptsAnyText))
      return this.#closeMissing();
    if (!',}]'.includes(char) || this.state === State.ROOT) return this.refuse();
    if (this.state === State.MEMBER) return this.skipValue();
    if (char !== ',') return this.stepClose(char);
    this.cursor.repair('extra_comma');
    return this.advance();
  }

  /** Reads consecutive plain tokens with the commas and brackets between them. Returns whether any was found. */
  #readPlainTokens(): boolean {
    const { cursor } = this;
    const { text, at: start } = cursor;
    if (this.rereads || this.#concatenating || cursor.formulas) return false;
    while (!cursor.failure && (this.role === State.KEY || this.role === State.ITEM)) {
      const length = cursor.matchHere(PLAIN_TOKENS[this.role]);
      const char = cursor.char();
      if (length === -1 && cursor.at === start) return false;
      if (length !== -1) {
        if (!this.#placePlainToken(length)) return true;
      } else if (char === '{' && this.state === State.ITEM) {
        if (!this.#readRun()) {
          this.#openContainer(false);
          this.role = State.KEY;
          cursor.at = skipSpace(text, cursor.at);
          continue;
        }
      } else if (isClosing(char) && (char === ']') === this.builder.inArray) this.stepClose(char);
      else return true;
      if (cursor.failure || this.state !== State.AFTER) return true;
      if (cursor.char() === ',') {
        this.role = this.#readComma();
        cursor.at = skipSpace(text, cursor.at);
      } else if (!isClosing(cursor.char())) return true;
    }
    return cursor.at > start;
  }

  /** Places a plain token of this length; false if it is a lone key, or its repair is not allowed. */
  #placePlainToken(length: number): boolean {
    const { cursor, builder } = this;
    const { text, base } = cursor;
    let { at } = cursor;
    const end = at + length;
    let char = text.charAt(at);
    if (this.role === State.KEY) {
      const quoted = char === '"' || char === "'";
      const keyEnd = quoted ? text.indexOf(char, at + 1) + 1 : text.indexOf(':', at);
      if (char !== '"') cursor.repair(quoted ? 'quote_style' : 'unquoted_key', at);
      builder.setKey(quoted ? text.slice(at + 1, keyEnd - 1) : text.slice(at, keyEnd), base + at);
      at = skipSpace(text, keyEnd + 1);
      char = text.charAt(at);
    }
    cursor.at = end;
    if (at < end && char === "'") cursor.repair('quote_style', at);
    if (cursor.failure) return false;
    this.plausible = true;
    if (at === end) this.state = State.MEMBER;
    else this.placeScalar(readPlainValue(text.slice(at, end), this.#policy.numbers));
    return at < end;
  }

  /** Reads the comma after a value; returns the role of the next token. */
  #readComma(): typeof State.ITEM | typeof State.KEY {
    this.#commaOffset = this.cursor.base + this.cursor.at;
    this.cursor.at++;
    return (this.state = this.builder.inArray ? State.ITEM : State.KEY);
  }

  /** Reads the items that start here in one step, if enough of them need no repair. */
  #readRun(): boolean {
    const { builder, cursor } = this;
    const { numbers, depth } = this.#policy;
    if (this.role !== State.ITEM || this.rereads || cursor.formulas || builder.openDepth + RUN_DEPTH > depth)
      return false;
    const run = builder.runs?.find(cursor.text, cursor.at, numbers !== 'double');
    if (!run) return false;
    builder.placeItems(run);
    cursor.at += run.length;
    this.endValue();
    return true;
  }

  /** Handles the start of a token that is not plain. */
  #stepToken(char: string): Step.StructureStep {
    const { cursor } = this;
    if (char === '\\' && !cursor.has(2)) return Step.WAIT;
    // `\"`: the quotes of the whole value were escaped.
    if (isQuote(char === '\\' ? cursor.char(1) : char)) return Step.STRING;
    if (char === '\\') return this.refuse();
    const ellipsisLength = this.#dots(char);
    return ellipsisLength === -1 ? Step.BARE : this.#readEllipsis(ellipsisLength);
  }

  #stepColon(char: string): Step.StructureStep {
    const { cursor } = this;
    if (char === ':') {
      this.plausible = true;
      return this.advance(State.MEMBER);
    }
    // Words before a bracket, a string or an equals sign are more likely code or prose than a key.
    if (',}];'.includes(char) || (this.#keyWasBare && !this.#policy.acceptsAnyText)) return this.refuse();
    if (char === '=' && !cursor.has(2)) return Step.WAIT;
    cursor.repair('missing_colon');
    if (char === '=') cursor.at += cursor.char(1) === '>' ? 2 : 1;
    return this.goTo(State.MEMBER);
  }

  /** Processes a character after a value: in a container, or after the root, where nothing should follow. */
  protected stepAfter(char: string): Step.StructureStep {
    const next = this.builder.inArray ? State.ITEM : State.KEY;
    if (char === '+') return this.#stepConcatenation();
    if (this.isComplete) return this.#stepEnd(char);
    if (char === ',') return this.goTo(this.#readComma());
    if (isClosing(char)) return this.stepClose(char);
    if (next === State.KEY && char === '{' && this.builder.otherAbove) return this.#closeMissing();
    if ((next === State.ITEM ? ':;' : ':{[').includes(char)) return this.refuse();
    if (this.#dots(char) === -1) this.cursor.repair('missing_comma');
    return char === ';' ? this.advance(next) : this.goTo(next);
  }

  #stepEnd(char: string): Step.StructureStep {
    const isComma = char === ',' && !this.rootCommaSeen;
    if (isComma || '}];'.includes(char)) {
      if (!isClosing(char)) this.rootCommaSeen = isComma;
      this.cursor.repair(isClosing(char) ? 'extra_bracket' : 'extra_comma');
      return this.advance();
    }
    return this.startNextRoot?.() ?? this.refuse();
  }

  #openContainer(isArray: boolean): Step.StructureStep {
    if (this.builder.openDepth >= this.#policy.depth) {
      this.cursor.fail(this.cursor.at, 'LIMIT_EXCEEDED', describeDepthLimit(this.#policy.depth));
      return Step.WAIT;
    }
    if (this.builder.openDepth > 0) this.plausible = true;
    this.builder.open(isArray);
    return this.advance(State.FIRST);
  }

  protected stepClose(char: string): Step.StructureStep {
    if (this.state === State.ITEM || this.state === State.KEY)
      this.cursor.repair('extra_comma', this.#commaOffset - this.cursor.base);
    const isOther = (char === ']') !== this.builder.inArray;
    if (isOther && this.builder.otherAbove) return this.#closeMissing();
    if (this.isSuperfluous?.(isOther)) {
      this.cursor.repair('extra_bracket');
      return this.advance();
    }
    if (isOther) this.cursor.repair('missing_bracket');
    this.builder.close();
    this.endValue();
    return this.advance();
  }

  /** Closes the innermost container although its bracket is missing; the current character is processed again. */
  #closeMissing(): Step.StructureStep {
    this.cursor.repair('missing_bracket');
    this.builder.close();
    return this.endValue();
  }

  /** Drops a key without a value. */
  protected skipValue(): Step.StructureStep {
    this.cursor.repair('missing_value');
    return this.goTo(State.AFTER);
  }

  /** The length of the ellipsis that starts with this character, or -1. */
  #dots(char: string): number {
    return char === '.' || char === '…' ? this.cursor.matchHere(DOTS) : -1;
  }

  /** An ellipsis can replace items or members, but never the root, and a key's value only if any text is accepted. */
  #readEllipsis(length: number): Step.StructureStep {
    const { cursor } = this;
    if (!cursor.final && (cursor.at + length === cursor.text.length || cursor.matchHere(CUT_DOTS) !== -1))
      return Step.WAIT;
    cursor.repair('ellipsis', cursor.at, length);
    cursor.at += length;
    if (this.state === State.ROOT || (this.state === State.MEMBER && !this.#policy.acceptsAnyText))
      return this.refuse();
    return this.state === State.MEMBER ? this.skipValue() : this.goTo(State.DOTS);
  }

  /** Refuses an ellipsis that is an operator (something follows it) or replaces the answer (alone between brackets). */
  #stepDots(char: string): Step.StructureStep {
    const closes = isClosing(char);
    const isAlone = closes && this.builder.last === undefined && !this.#policy.acceptsAnyText;
    if (isAlone || (char !== ',' && !closes)) return this.refuse();
    this.state = State.AFTER;
    this.#dotsSeen = !closes && !this.#policy.acceptsAnyText;
    return this.stepAfter(char);
  }

  /** `"a" + "b"` */
  #stepConcatenation(): Step.StructureStep {
    const { cursor } = this;
    if (typeof this.builder.last !== 'string') return this.refuse();
    if (!cursor.final && cursor.matchHere(/\+\s*$/y) !== -1) return Step.WAIT;
    cursor.repair('concatenation');
    cursor.at++;
    const char = this.#filler.skip(this);
    if (isQuote(char)) this.passSeparator('+');
    else if (!this.#policy.acceptsAnyText && char !== '') return this.refuse();
    return Step.CONTINUE;
  }

  protected endValue(): Step.StructureStep {
    this.rootEnd = this.cursor.at;
    this.#dotsSeen = false;
    return this.goTo(this.builder.openDepth === 0 ? State.END : State.AFTER);
  }

  protected advance(state: State.State = this.state): Step.StructureStep {
    this.cursor.at++;
    return this.goTo(state);
  }

  protected goTo(state: State.State): Step.StructureStep {
    this.state = state;
    return Step.CONTINUE;
  }
}

function isClosing(char: string): boolean {
  return char === '}' || char === ']';
}
