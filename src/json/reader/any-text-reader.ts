import * as Step from './step.js';
import { MAX_COMMENT_LENGTH, MAX_TAIL_LENGTH } from '../bounds.js';
import type { Repair } from '../repair.js';
import { KEY, measureBare, PHRASE, readLiteralOrNumber, type BareReading, WORD } from './bare-token.js';
import { readCutNumber } from './number.js';
import { Reader } from './reader.js';
import type { StringToken } from './string-token.js';
import type { ValueBuilder } from './value-builder.js';
import * as State from './state.js';
import { isContainer } from '../limits.js';
import { Structure } from './structure.js';

const REGULAR_EXPRESSION = /\/(\\.|[^\\/\n]){0,1000}\//y;

/**
 * The reader behind `repairJson`: it finds a value in any input. It accepts any unquoted text as a string, and rereads
 * an unclosed string up to the next delimiter. Its policy must allow all repairs.
 */
export class AnyTextReader extends Reader {
  declare readonly structure: AnyTextStructure;
  /** A character that ends unquoted text here; in other contexts it can be part of such text. */
  #stop = '';

  protected override createStructure(builder: ValueBuilder): AnyTextStructure {
    return new AnyTextStructure(this.cursor, this.policy, builder);
  }

  protected override startToken(kind: Step.TokenKind): boolean {
    const { structure, cursor } = this;
    return kind === Step.STRING && structure.rereads ? this.#reread(cursor.at) : super.startToken(kind);
  }

  protected override readBare(stop = this.structure.insideCall ? ')' : ''): boolean {
    this.#stop = stop;
    if (!this.structure.enterCall()) return super.readBare();
    this.token = undefined;
    return true;
  }

  protected override endCutString(string: StringToken): boolean {
    const { cursor, structure } = this;
    const opened = string.offset - cursor.base;
    if (opened < 0 || !/[\]},+]\s*$/.test(cursor.text.slice(-MAX_TAIL_LENGTH))) return super.endCutString(string);
    structure.rereads = true;
    this.#reread(opened);
    return false;
  }

  /** Reads a string whose end quote is missing: up to the next delimiter instead of to the end of the input. */
  #reread(at: number): boolean {
    this.cursor.repair('missing_quote', at);
    this.cursor.at = at + 1;
    return this.readBare('+');
  }

  protected override measureBare(isKey: boolean): number {
    const { cursor, policy } = this;
    // The stop is part of the pattern: a separate search would not take linear time.
    const measure = (pattern: RegExp, stop = this.#stop): number =>
      measureBare(cursor, stop === '' ? pattern : new RegExp(pattern.source.replace('[^', `[^${stop}`), 'y'));
    const expression = isKey ? -1 : cursor.matchHere(REGULAR_EXPRESSION);
    if (expression !== -1) return expression;
    const text = cursor.text.slice(cursor.at, cursor.at + measure(isKey ? KEY : WORD));
    // `[3, 4)`: a wrong bracket is not part of the number before it.
    const token = /^[^(]+\)$/.test(text) ? text.slice(0, text.indexOf(')')) : text;
    return isKey || readLiteralOrNumber(token, policy) !== undefined ? token.length : measure(PHRASE);
  }

  protected override readBareText(token: string, atEnd: boolean): BareReading {
    const complete = readLiteralOrNumber(token, this.policy);
    if (complete !== undefined) return complete;
    if (/^[-.]$/.test(token)) return { value: 0, repair: 'number' };
    const number = readCutNumber(token, this.policy.numbers);
    if (number === undefined) return { value: token, repair: 'unquoted_string' };
    return { value: number, repair: atEnd ? 'truncated' : 'number' };
  }
}

const CALL = /[\p{L}_$][\p{L}\p{N}_$.]*[ \t]*\(/uy;
/** A member after the root, which was closed too early. */
const NEXT_MEMBER = /"[^"\n]{0,256}"\s{0,64}:/y;
/** A line comment that might contain the rest of the value. */
const HIDDEN_VALUES = /^(?:#|\/\/).*(?:[,:"].*[}\]]|[}\]].*[,:"])/;
/** A wrong bracket after which the open list or object continues. */
const CONTINUES = /}\s{0,64},\s{0,64}["{[\d][^]{0,4096}\]|]\s{0,64},\s{0,64}"[^"\n]{0,256}"\s{0,64}:/y;
/** A member in a list that was left open: the next closing bracket belongs to its object. */
const MEMBER_OUTSIDE = /:[^[\]{}]{0,4096}}/y;

/**
 * The extra structure that `repairJson` accepts: function calls around values, several values in one input, members
 * outside their object, and `null` for a missing value.
 */
class AnyTextStructure extends Structure {
  #openCalls = 0;
  /** Multiple roots are being collected in an implicit array: the end of the input closes it. */
  #rootsWrapped = false;

  /** Skips the start of a function call, which is replaced by its argument. Returns whether a call was found. */
  enterCall(): boolean {
    const length = this.cursor.matchHere(CALL);
    if (length === -1 || this.role === State.KEY) return false;
    this.cursor.repair('function_call');
    this.cursor.at += length;
    this.#openCalls++;
    this.insideCall = true;
    return true;
  }

  override finish(): void {
    const { builder, state, cursor } = this;
    // The text arrived in one piece, so offsets are indexes.
    const isHidden = ({ kind, offset }: Repair): boolean =>
      kind === 'comment' && HIDDEN_VALUES.test(cursor.text.slice(offset, offset + MAX_COMMENT_LENGTH));
    if (builder.openDepth > 0 && cursor.repairs.some(isHidden))
      cursor.fail(cursor.at, 'TRUNCATED', 'A comment contains the rest of the value');
    if (this.#rootsWrapped && builder.openDepth === 1 && (state === State.ITEM || state === State.AFTER)) {
      builder.close();
      this.endValue();
    }
    // A truncated key might be the start of an existing one.
    if (this.awaitsValue && builder.last === undefined) builder.place(null);
    super.finish();
  }

  protected override stepAfter(char: string): Step.StructureStep {
    const { builder, cursor } = this;
    if (char === ')' && this.insideCall) {
      this.insideCall = --this.#openCalls > 0;
      return this.advance();
    }
    if (char === ')' && !this.isComplete) return this.stepClose(builder.inArray ? ']' : '}');
    if (char === ':' && !this.isComplete) {
      const isOutside = builder.otherAbove && cursor.matchHere(MEMBER_OUTSIDE) !== -1;
      if (isOutside) cursor.repair('missing_bracket');
      if (this.#useLastAsKey(isOutside)) return this.advance(State.MEMBER);
    }
    return super.stepAfter(char);
  }

  /**
   * The last string placed in a list was a key: an object replaces it or, if the list was left open, it belongs to the
   * enclosing object. The next value becomes the member's value.
   */
  #useLastAsKey(isOutside: boolean): boolean {
    const { builder } = this;
    const { last } = builder;
    if (!builder.inArray || typeof last !== 'string') return false;
    if (isOutside) {
      builder.removeLast();
      builder.close();
    } else {
      builder.reopenLast();
      builder.open(false);
    }
    builder.setKey(last, 0);
    return true;
  }

  /** Handles members that belong to the root, or another root, after a comma or a line break. */
  protected override startNextRoot(): Step.StructureStep {
    const { builder, cursor, rootEnd } = this;
    const { root } = builder;
    if (!this.rootCommaSeen && !cursor.text.slice(rootEnd, cursor.at).includes('\n')) return this.refuse();
    builder.reopenLast();
    const isMember = this.rootCommaSeen && cursor.matchHere(NEXT_MEMBER) !== -1;
    if (isMember && isContainer(root) && !Array.isArray(root)) {
      cursor.repair('extra_bracket', rootEnd - 1);
      builder.open(false, root);
      return this.goTo(State.KEY);
    }
    cursor.repair('several_values');
    builder.open(true, [root]);
    this.#rootsWrapped = true;
    return this.goTo(State.ITEM);
  }

  protected override isSuperfluous(isOther: boolean): boolean {
    return isOther ? this.cursor.matchHere(CONTINUES) !== -1 : this.#rootsWrapped && this.builder.openDepth === 1;
  }

  /** A gap between two commas is an item without a value; a comma typed twice is a slip. */
  protected override stepContent(char: string, isKey: boolean): Step.StructureStep {
    const isGap = char === ',' && this.state === State.ITEM && this.cursor.char(-1).trim() === '';
    return isGap ? this.skipValue() : super.stepContent(char, isKey);
  }

  protected override skipValue(): Step.StructureStep {
    this.builder.place(null);
    return super.skipValue();
  }
}
