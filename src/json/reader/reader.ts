import { isBareKey, readBareText } from './bare-text.js';
import { BareToken } from './bare-token.js';
import {
  asciiPunctuation,
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PARENTHESIS,
  COLON,
  COMMA,
  ellipsisLength,
  EQUALS,
  GREATER_THAN,
  isDigit,
  isQuote,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PARENTHESIS,
  PLUS,
  SEMICOLON,
} from './character.js';
import { Filler } from './filler.js';
import type { StringSurroundings } from './quote-verdict.js';
import type { ReaderPolicy } from './reader-policy.js';
import { Source } from './source.js';
import { StringToken } from './string-token.js';
import { convertNumber } from './number.js';
import { ValueBuilder, type ValueListener } from './value-builder.js';

/** What the reader expects next. */
type State =
  | 'root'
  | 'first-item'
  | 'item'
  | 'after-item'
  | 'first-key'
  | 'key'
  | 'colon'
  | 'member'
  | 'after-member'
  | 'end';

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/**
 * The tolerant reader: text in pieces of any size, one value out, every repair recorded. It keeps its own stack, reads
 * each character once (plus a bounded look ahead at quotes) and is the same for a whole text and for a stream.
 */
export class Reader implements StringSurroundings {
  readonly source: Source;
  readonly builder: ValueBuilder;
  readonly rootMustEnd: boolean;
  role: StringSurroundings['role'] = 'root';
  private readonly policy: ReaderPolicy;
  private readonly string = new StringToken();
  private readonly bare = new BareToken();
  private readonly filler: Filler;
  private token: 'none' | 'string' | 'bare' = 'none';
  private state: State = 'root';
  private openCalls = 0;
  private concatenating = false;
  /** Several roots are being collected in an array nobody wrote: the end of the text closes it. */
  private rootsWrapped = false;
  private rootCommaSeen = false;
  private partsRead = 0;
  private keyWasBare = false;
  /** An unclosed string was read again up to the next delimiter; later ones must not run to the end of the text either. */
  private readonly rereadsUnclosed: boolean;
  private readUnclosedBefore = false;

  constructor(policy: ReaderPolicy, offset = 0, listener?: ValueListener) {
    this.policy = policy;
    this.source = new Source(offset, policy.repairs);
    this.builder = new ValueBuilder(listener);
    this.filler = new Filler(this.source, !policy.rootMustEnd);
    this.rootMustEnd = policy.rootMustEnd;
    this.rereadsUnclosed = policy.bareText === 'any';
  }

  get depth(): number {
    return this.builder.depth;
  }

  get arrayAbove(): boolean {
    return this.builder.arrayAbove;
  }

  get objectAbove(): boolean {
    return this.builder.objectAbove;
  }

  get insideCall(): boolean {
    return this.openCalls > 0;
  }

  /** The root value is finished (more may follow it only where several roots are taken). */
  get complete(): boolean {
    return this.state === 'end';
  }

  /** Whether anything speaks for JSON beyond the first bracket: a key with its colon, an item, a nested bracket. */
  get plausible(): boolean {
    return this.partsRead > 0;
  }

  /** Offset behind the last character that was read. */
  get offset(): number {
    return this.source.offset(this.source.position);
  }

  /** Reads on. Stops early when the value is finished and the text behind it does not matter. */
  push(chunk: string): void {
    this.source.append(chunk);
    this.run();
  }

  /** No more text comes: closes what is open where the policy allows it. */
  end(): void {
    this.source.final = true;
    this.run();
    if (this.source.failure === undefined && this.state !== 'end') this.finishCutValue();
  }

  /** Shows the unfinished string, if there is one, in its place. */
  showUnfinishedString(): void {
    if (this.token === 'string' && this.role !== 'key') this.builder.show(this.string.shown);
  }

  /** Shows the unfinished number or literal where its text so far is one. */
  showUnfinishedBare(accept: (value: unknown) => boolean): void {
    if (this.token !== 'bare' || this.role === 'key') return;
    const reading = readBareText(this.bare.text, true, this.policy);
    if (reading.kind !== 'refused' && accept(reading.value)) this.builder.show(reading.value);
  }

  /** Shows the key being waited on with no value yet. */
  showUnfinishedKey(): void {
    if (this.token === 'none' && (this.state === 'colon' || this.state === 'member')) this.builder.show(null);
  }

  private run(): void {
    while (this.source.failure === undefined) {
      if (this.token === 'string') {
        if (!this.readString()) return;
      } else if (this.token === 'bare') {
        if (!this.readBare()) return;
      } else {
        if (this.state === 'end' && !this.rootMustEnd) return;
        const code = this.filler.skip(this.state, this.builder.depth);
        if (code === -1 || this.source.failure !== undefined) return;
        if (!this.step(asciiPunctuation(code), code)) return;
      }
    }
  }

  /** Takes one structural character; false when more text is needed to understand it. */
  private step(code: number, written: number): boolean {
    if (code !== written) this.source.repair('punctuation', 'replaced full-width punctuation', this.offset);
    switch (this.state) {
      case 'root':
      case 'first-item':
      case 'item':
      case 'member':
        return this.stepValue(code);
      case 'after-item':
        return this.stepAfterItem(code);
      case 'first-key':
      case 'key':
        return this.stepKey(code);
      case 'colon':
        return this.stepColon(code);
      case 'after-member':
        return this.stepAfterMember(code);
      case 'end':
        return this.stepEnd(code);
    }
  }

  private stepValue(code: number): boolean {
    switch (code) {
      case OPEN_BRACE:
        return this.openContainer(false);
      case OPEN_BRACKET:
        return this.openContainer(true);
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        return this.stepCloseInsteadOfValue(code);
      case COMMA:
        if (this.state === 'member') return this.leaveValueOut();
        if (this.state === 'root') return this.refuse('a comma stands where the value should begin');
        this.source.repair('extra_comma', 'removed a comma', this.offset);
        return this.advance();
      case COLON:
        return this.refuse('a colon stands where a value should begin');
      default:
        return this.stepScalar(code);
    }
  }

  private stepScalar(code: number): boolean {
    const { source } = this;
    if (isQuote(code)) return this.openString(this.valueRole());
    if (code === BACKSLASH) {
      if (source.position + 1 >= source.text.length && !source.final) return false;
      if (isQuote(source.text.charCodeAt(source.position + 1))) return this.openString(this.valueRole());
      return this.refuse('a backslash stands where a value should begin');
    }
    const dots = ellipsisLength(source.text, source.position);
    if (dots > 0) return this.takeEllipsis(dots);
    if ((isDigit(code) || code === MINUS) && this.takePlainNumber()) return true;
    if (code === OPEN_PARENTHESIS || code === CLOSE_PARENTHESIS || code === SEMICOLON) {
      return this.refuse('a value should begin here');
    }
    this.role = this.valueRole();
    this.bare.open(source, false, this.openCalls > 0 ? ')' : '');
    this.token = 'bare';
    return true;
  }

  /** The usual number, whole and followed by a delimiter, without the detour over a token. */
  private takePlainNumber(): boolean {
    const { source } = this;
    NUMBER.lastIndex = source.position;
    if (!NUMBER.test(source.text)) return false;
    const end = NUMBER.lastIndex;
    const code = source.text.charCodeAt(end);
    if (code !== COMMA && code !== CLOSE_BRACE && code !== CLOSE_BRACKET && code !== 0x20 && code !== 0x0a && code !== 0x0d) return false;
    const token = source.text.slice(source.position, end);
    source.position = end;
    this.placeScalar(this.policy.numbers === 'double' ? Number(token) : convertNumber(token, this.policy.numbers));
    return true;
  }

  private stepCloseInsteadOfValue(code: number): boolean {
    if (this.state === 'root') return this.refuse('a closing bracket stands where the value should begin');
    if (this.state === 'member') return this.leaveValueOut();
    if (this.state === 'item') this.source.repair('extra_comma', 'removed a trailing comma', this.offset);
    return this.stepClose(code);
  }

  private stepAfterItem(code: number): boolean {
    if (code === COMMA) return this.advance('item');
    if (code === CLOSE_BRACKET || code === CLOSE_BRACE) return this.stepClose(code);
    if (this.stepsOver(code)) return true;
    if (code === PLUS) return this.stepConcatenation();
    if (ellipsisLength(this.source.text, this.source.position) === 0) {
      this.source.repair('missing_comma', 'added a comma between items', this.offset);
    }
    this.state = 'item';
    return code === COLON || code === SEMICOLON ? this.refuse('an item should end here') : true;
  }

  private stepKey(code: number): boolean {
    const { source } = this;
    if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (this.state === 'key') source.repair('extra_comma', 'removed a trailing comma', this.offset);
      return this.stepClose(code);
    }
    if (code === COMMA) {
      source.repair('extra_comma', 'removed a comma', this.offset);
      return this.advance();
    }
    if (isQuote(code)) return this.openString('key');
    if (code === BACKSLASH) {
      if (source.position + 1 >= source.text.length && !source.final) return false;
      return isQuote(source.text.charCodeAt(source.position + 1)) ? this.openString('key') : this.refuse('a key should begin here');
    }
    const dots = ellipsisLength(source.text, source.position);
    if (dots > 0) return this.takeEllipsis(dots);
    if (code === OPEN_BRACE && this.builder.arrayAbove) return this.closeMissing('added the missing end of an object');
    if (code === COLON || code === OPEN_BRACE || code === OPEN_BRACKET || code === OPEN_PARENTHESIS || code === SEMICOLON) {
      return this.refuse('a key should begin here');
    }
    this.role = 'key';
    this.bare.open(source, true, '');
    this.token = 'bare';
    return true;
  }

  private stepColon(code: number): boolean {
    const { source } = this;
    if (code === COLON) {
      this.partsRead++;
      return this.advance('member');
    }
    if (code === EQUALS) {
      if (source.position + 1 >= source.text.length && !source.final) return false;
      source.repair('missing_colon', 'replaced an equals sign by a colon', this.offset);
      if (source.text.charCodeAt(source.position + 1) === GREATER_THAN) source.position++;
      return this.advance('member');
    }
    if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code === SEMICOLON) {
      return this.refuse('a key has neither colon nor value');
    }
    // Words before a bracket or a string are rather code or prose than a key.
    if (this.keyWasBare && this.policy.bareText === 'cautious') return this.refuse('a colon should stand behind this key');
    source.repair('missing_colon', 'added a colon behind a key', this.offset);
    this.state = 'member';
    return true;
  }

  private stepAfterMember(code: number): boolean {
    if (code === COMMA) return this.advance('key');
    if (code === CLOSE_BRACE || code === CLOSE_BRACKET) return this.stepClose(code);
    if (this.stepsOver(code)) return true;
    if (code === PLUS) return this.stepConcatenation();
    if (code === OPEN_BRACE && this.builder.arrayAbove) return this.closeMissing('added the missing end of an object');
    if (code === SEMICOLON) {
      this.source.repair('missing_comma', 'replaced a semicolon by a comma', this.offset);
      return this.advance('key');
    }
    if (code === COLON || code === OPEN_BRACE || code === OPEN_BRACKET) return this.refuse('a member should end here');
    if (ellipsisLength(this.source.text, this.source.position) === 0) {
      this.source.repair('missing_comma', 'added a comma between members', this.offset);
    }
    this.state = 'key';
    return true;
  }

  /** The root is finished and nothing else should follow. */
  private stepEnd(code: number): boolean {
    const { source } = this;
    if (this.stepsOver(code)) return true;
    if (code === PLUS) return this.stepConcatenation();
    if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      source.repair('extra_bracket', 'removed a closing bracket', this.offset);
      return this.advance();
    }
    if (code === COMMA && !this.rootCommaSeen) {
      source.repair('extra_comma', 'removed a comma behind the value', this.offset);
      this.rootCommaSeen = true;
      return this.advance();
    }
    if (code === SEMICOLON) {
      source.repair('extra_comma', 'removed a semicolon behind the value', this.offset);
      return this.advance();
    }
    if (source.allows('several_values') && (this.rootCommaSeen || this.filler.lineFeedSeen)) {
      source.repair('several_values', 'put several values into an array', this.offset);
      this.builder.wrapRoot();
      this.rootsWrapped = true;
      this.state = 'item';
      return true;
    }
    return this.refuse('text follows the value');
  }

  private openContainer(isArray: boolean): boolean {
    if (this.builder.depth >= this.policy.depth) {
      this.source.fail('LIMIT_EXCEEDED', `the value is nested deeper than ${this.policy.depth} levels`, this.offset);
      return false;
    }
    if (this.builder.depth > 0) this.partsRead++;
    this.builder.open(isArray);
    return this.advance(isArray ? 'first-item' : 'first-key');
  }

  private stepClose(code: number): boolean {
    const closesArray = code === CLOSE_BRACKET;
    if (closesArray === this.builder.inArray) {
      if (this.rootsWrapped && this.builder.depth === 1) {
        this.source.repair('extra_bracket', 'removed a closing bracket', this.offset);
        return this.advance();
      }
      this.builder.close();
      return this.advance(this.stateAfterValue());
    }
    const fitsFurtherOut = closesArray ? this.builder.arrayAbove : this.builder.objectAbove;
    if (fitsFurtherOut) return this.closeMissing(`added a missing ${closesArray ? '}' : ']'}`);
    this.source.repair('missing_bracket', `replaced a closing bracket by ${closesArray ? '}' : ']'}`, this.offset);
    this.builder.close();
    return this.advance(this.stateAfterValue());
  }

  /** Closes the innermost container although its bracket is missing; the character under the position is read again. */
  private closeMissing(message: string): boolean {
    this.source.repair('missing_bracket', message, this.offset);
    this.builder.close();
    this.state = this.stateAfterValue();
    return true;
  }

  private leaveValueOut(): boolean {
    this.source.repair('missing_value', 'a key has no value', this.offset);
    if (this.policy.missingValue === 'null') this.builder.place(null);
    this.state = 'after-member';
    return true;
  }

  private takeEllipsis(length: number): boolean {
    const { source } = this;
    const end = source.position + length;
    if (end === source.text.length && !source.final) return false;
    source.repair('ellipsis', 'removed an ellipsis', this.offset, length);
    source.position = end;
    if (this.state === 'member') return this.leaveValueOut();
    if (this.state === 'root') return this.refuse('an ellipsis stands where the value should begin');
    const code = this.filler.skip(this.state, this.builder.depth);
    if (code !== -1 && code !== COMMA && code !== CLOSE_BRACE && code !== CLOSE_BRACKET) return this.refuse('an ellipsis is followed by text');
    this.state = this.builder.inArray ? 'after-item' : 'after-member';
    return code !== -1;
  }

  /** `"a" + "b"`: the next string is joined to the last. */
  private stepConcatenation(): boolean {
    const { source } = this;
    if (typeof this.builder.last !== 'string') return this.refuse('an operator stands behind a value');
    source.repair('concatenation', 'joined strings', this.offset);
    source.position++;
    const code = this.filler.skip(this.state, this.builder.depth);
    if (isQuote(code)) this.concatenate();
    else if (this.policy.bareText === 'cautious' && code !== -1) return this.refuse('an operator stands behind a value');
    return true;
  }

  private concatenate(): void {
    this.concatenating = true;
    this.state = this.builder.depth === 0 ? 'root' : this.builder.inArray ? 'item' : 'member';
  }

  /** The closing parenthesis of a call that was left out. */
  private stepsOver(code: number): boolean {
    if (code !== CLOSE_PARENTHESIS || this.openCalls === 0) return false;
    this.openCalls--;
    this.source.position++;
    return true;
  }

  private openString(role: StringSurroundings['role']): boolean {
    const { source } = this;
    this.role = role;
    if (this.readUnclosedBefore) return this.rereadAsBareText(source.position);
    if (!this.string.open(source)) return false;
    this.token = 'string';
    return source.failure === undefined;
  }

  private readString(): boolean {
    const progress = this.string.read(this.source, this);
    if (progress === 'more' || this.source.failure !== undefined) return false;
    if (progress === 'cut') return this.cutString();
    this.token = 'none';
    if (this.role === 'key') {
      this.builder.setKey(this.string.content, this.string.offset);
      this.keyWasBare = false;
      this.state = 'colon';
      return true;
    }
    if (this.isQuotedProse()) return this.refuse('this is quoted text, not JSON');
    this.placeScalar(this.joined(this.string.content));
    if (this.string.separatorPassed === 'comma') this.state = this.builder.inArray ? 'item' : 'key';
    if (this.string.separatorPassed === 'plus') this.concatenate();
    return true;
  }

  private isQuotedProse(): boolean {
    return this.role === 'root' && this.string.unescapedSeen && this.policy.bareText === 'cautious';
  }

  private joined(content: string): string {
    if (!this.concatenating) return content;
    this.concatenating = false;
    const first = this.builder.last;
    this.builder.reopenLast();
    return (typeof first === 'string' ? first : '') + content;
  }

  /** The text ended inside a string. */
  private cutString(): boolean {
    const { source } = this;
    const opened = this.string.offset - source.base;
    if (this.rereadsUnclosed && !this.readUnclosedBefore && opened >= 0 && /[\]},+]\s*$/.test(source.text.slice(-LONGEST_TAIL))) {
      this.readUnclosedBefore = true;
      return this.rereadAsBareText(opened);
    }
    if (this.isQuotedProse()) return this.refuse('this is quoted text, not JSON');
    const lineEnd = this.findLostLineEnd(opened);
    if (lineEnd !== -1) {
      this.string.endAtLine(source, lineEnd);
      this.token = 'none';
      this.placeScalar(this.joined(this.string.content));
      return true;
    }
    source.repair('truncated', 'the text ends inside a string', source.offset(source.text.length));
    if (source.failure !== undefined) return false;
    this.token = 'none';
    if (this.role === 'key') {
      this.builder.setKey(this.string.content, this.string.offset);
      this.state = 'colon';
    } else {
      this.placeScalar(this.joined(this.string.content));
    }
    return true;
  }

  /**
   * Index of the line break that ends a string without end quote: behind it stand just the brackets that close all that is
   * open. -1 if the string was really cut.
   */
  private findLostLineEnd(opened: number): number {
    if (this.role === 'key' || this.role === 'root') return -1;
    const { text } = this.source;
    let brackets = '';
    for (let at = text.length - 1; at > Math.max(opened, -1); at--) {
      const character = text.charAt(at);
      if (character === '\n') {
        if (brackets === this.builder.closingBrackets) return at;
      } else if (character === '}' || character === ']') {
        brackets = character + brackets;
      } else if (character.trim() !== '') {
        return -1;
      }
    }
    return -1;
  }

  /** A string whose end quote is missing, read up to the next delimiter instead of to the end of the text. */
  private rereadAsBareText(at: number): boolean {
    const { source } = this;
    source.repair('missing_quote', 'added the missing end quote of a string', source.offset(at));
    source.position = at + 1;
    this.bare.open(source, this.role === 'key', '+');
    this.token = 'bare';
    return true;
  }

  private readBare(): boolean {
    const { source } = this;
    const progress = this.bare.read(source, this.policy);
    if (progress === 'more') return false;
    this.token = 'none';
    if (progress === 'call') {
      source.repair('function_call', 'removed the name of a function', this.bare.offset);
      source.position = source.text.indexOf('(', source.position) + 1;
      this.openCalls++;
      return true;
    }
    return this.role === 'key' ? this.finishBareKey(progress === 'cut') : this.finishBareValue(progress === 'cut');
  }

  private finishBareKey(cut: boolean): boolean {
    const { source, bare } = this;
    if (cut) source.repair('truncated', 'the text ends inside a key', source.offset(source.text.length));
    else if (!isBareKey(bare.text, this.policy)) return this.refuse('a key should stand here');
    else if (bare.strayQuote) source.repair('missing_quote', 'added the missing quote of a key', bare.offset);
    else source.repair('unquoted_key', 'put a key in quotes', bare.offset);
    this.builder.setKey(bare.text, bare.offset);
    this.keyWasBare = !bare.strayQuote;
    this.state = 'colon';
    return true;
  }

  private finishBareValue(atEnd: boolean): boolean {
    const { source, bare } = this;
    if (bare.strayQuote) {
      source.repair('missing_quote', 'added the missing quote of a string', bare.offset);
      this.placeScalar(bare.text);
      return true;
    }
    const reading = readBareText(bare.text, atEnd, this.policy);
    if (reading.kind === 'refused') return this.refuse('this is neither a value nor plain text');
    if (reading.kind === 'cut-literal') {
      source.repair('truncated', 'the text ends inside a literal', source.offset(source.text.length));
      if (this.builder.depth > 0) return true;
    } else if (reading.repair !== undefined) {
      if (reading.repair === 'unquoted_string' && this.state === 'root' && this.policy.bareText !== 'any') return this.refuse('this is text, not JSON');
      source.repair(reading.repair, MESSAGES[reading.repair], bare.offset);
    }
    this.placeScalar(reading.value);
    return true;
  }

  private placeScalar(value: unknown): void {
    if (this.source.failure !== undefined) return;
    this.builder.place(value);
    this.partsRead++;
    this.filler.lineFeedSeen = false;
    this.state = this.stateAfterValue();
  }

  private stateAfterValue(): State {
    if (this.builder.depth === 0) {
      this.filler.lineFeedSeen = false;
      return 'end';
    }
    return this.builder.inArray ? 'after-item' : 'after-member';
  }

  private valueRole(): StringSurroundings['role'] {
    if (this.builder.depth === 0) return 'root';
    return this.builder.inArray ? 'item' : 'member';
  }

  private finishCutValue(): void {
    const { source, builder } = this;
    if (this.state === 'root') {
      source.fail('SYNTAX', 'no value was found', this.offset);
      return;
    }
    if (!(this.rootsWrapped && builder.depth === 1 && (this.state === 'item' || this.state === 'after-item'))) {
      source.repair('truncated', 'the text ends before the value does', source.offset(source.text.length));
    }
    if (source.failure !== undefined) return;
    if ((this.state === 'member' || this.state === 'colon') && this.policy.missingValue === 'null') builder.place(null);
    while (builder.depth > 0) builder.close();
    this.state = 'end';
  }

  private advance(state: State = this.state): true {
    this.source.position++;
    this.state = state;
    return true;
  }

  private refuse(message: string): false {
    this.source.fail('SYNTAX', message, this.offset);
    return false;
  }
}

/** White space behind the last bracket that is looked through. */
const LONGEST_TAIL = 64;
const MESSAGES = {
  literal: 'replaced a word by the JSON literal it stands for',
  number: 'rewrote a number as JSON writes it',
  unquoted_string: 'put text in quotes',
  truncated: 'the text ends inside a number',
} as const;
