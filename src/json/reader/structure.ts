import {
  asciiPunctuation,
  BACKSLASH,
  CARRIAGE_RETURN,
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
  LINE_FEED,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PARENTHESIS,
  PLUS,
  SEMICOLON,
  SPACE,
} from './character.js';
import { Filler } from './filler.js';
import { convertNumber } from './number.js';
import type { StringSurroundings } from './quote-verdict.js';
import type { ReaderPolicy } from './reader-policy.js';
import type { Source } from './source.js';
import { ValueBuilder, type ValueListener } from './value-builder.js';

/** What the structure expects next. */
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

/** What to do after a structural character: go on, wait for more text, or read a token that begins here. */
export type Step = 'on' | 'wait' | 'string' | 'bare';

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERALS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

/**
 * The structure of a value while it is read: brackets, commas, colons, and where a token belongs. Each `step` takes one
 * structural character, mending what is missing or too much; tokens are read elsewhere and handed in.
 */
export class Structure implements StringSurroundings {
  readonly builder: ValueBuilder;
  readonly rootMustEnd: boolean;
  /** What the token that begins here will be. */
  role: StringSurroundings['role'] = 'root';
  private readonly source: Source;
  private readonly policy: ReaderPolicy;
  private readonly filler: Filler;
  private state: State = 'root';
  private partsRead = 0;
  private openCalls = 0;
  private keyWasBare = false;
  /** The next string is joined to the last. */
  private concatenating = false;
  private rootCommaSeen = false;
  /** Several roots are being collected in an array nobody wrote: the end of the text closes it. */
  private rootsWrapped = false;

  constructor(source: Source, policy: ReaderPolicy, listener: ValueListener | undefined) {
    this.source = source;
    this.policy = policy;
    this.builder = new ValueBuilder(listener);
    this.filler = new Filler(source, !policy.rootMustEnd);
    this.rootMustEnd = policy.rootMustEnd;
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

  /** A key was read and its value not yet. */
  get awaitsValue(): boolean {
    return this.state === 'colon' || this.state === 'member';
  }

  /** Passes over white space and comments to the next structural character and takes it. */
  step(): Step {
    if (this.complete && !this.rootMustEnd) return 'wait';
    const written = this.filler.skip(this.state, this.depth);
    if (written === -1 || this.source.failure !== undefined) return 'wait';
    const code = asciiPunctuation(written);
    if (code !== written) this.repair('punctuation', 'replaced full-width punctuation');
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

  placeKey(key: string, offset: number, wasBare: boolean): void {
    this.builder.setKey(key, offset);
    this.keyWasBare = wasBare;
    this.state = 'colon';
  }

  placeString(content: string): void {
    if (!this.concatenating) {
      this.placeScalar(content);
      return;
    }
    this.concatenating = false;
    const first = this.builder.last;
    this.builder.reopenLast();
    this.placeScalar((typeof first === 'string' ? first : '') + content);
  }

  placeScalar(value: unknown): void {
    if (this.source.failure !== undefined) return;
    this.builder.place(value);
    this.partsRead++;
    this.state = this.stateAfterValue();
  }

  /** The separator behind the value placed last was read along with it. */
  passSeparator(separator: 'comma' | 'plus'): void {
    if (separator === 'plus') this.concatenate();
    else this.state = this.builder.inArray ? 'item' : 'key';
  }

  /** The name of a function was read; its parenthesis is passed over and the argument takes its place. */
  enterCall(): void {
    this.source.position = this.source.text.indexOf('(', this.source.position) + 1;
    this.openCalls++;
  }

  /** The text is over: closes what is open where the policy allows it. */
  finish(): void {
    const { source, builder } = this;
    if (this.complete || source.failure !== undefined) return;
    if (this.state === 'root') {
      source.fail('SYNTAX', 'no value was found', source.offset(source.position));
      return;
    }
    const onlyWrapped = this.rootsWrapped && builder.depth === 1 && (this.state === 'item' || this.state === 'after-item');
    if (!onlyWrapped) source.repair('truncated', 'the text ends before the value does', source.offset(source.text.length));
    if (source.failure !== undefined) return;
    if (this.awaitsValue && this.policy.missingValue === 'null') builder.place(null);
    while (builder.depth > 0) builder.close();
    this.state = 'end';
  }

  refuse(message: string): Step {
    this.source.fail('SYNTAX', message, this.source.offset(this.source.position));
    return 'wait';
  }

  private stepValue(code: number): Step {
    switch (code) {
      case OPEN_BRACE:
        return this.openContainer(false);
      case OPEN_BRACKET:
        return this.openContainer(true);
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (this.state === 'root') return this.refuse('a closing bracket stands where the value should begin');
        if (this.state === 'member') return this.leaveValueOut();
        if (this.state === 'item') this.repair('extra_comma', 'removed a trailing comma');
        return this.stepClose(code);
      case COMMA:
        if (this.state === 'member') return this.leaveValueOut();
        if (this.state === 'root') return this.refuse('a comma stands where the value should begin');
        this.repair('extra_comma', 'removed a comma');
        return this.advance();
      case COLON:
      case OPEN_PARENTHESIS:
      case CLOSE_PARENTHESIS:
      case SEMICOLON:
        return this.refuse('a value should begin here');
      default:
        return this.stepScalar(code);
    }
  }

  private stepScalar(code: number): Step {
    this.role = this.depth === 0 ? 'root' : this.builder.inArray ? 'item' : 'member';
    if (isQuote(code)) return 'string';
    if (code === BACKSLASH) return this.stepBackslash();
    const dots = ellipsisLength(this.source.text, this.source.position);
    if (dots > 0) return this.takeEllipsis(dots);
    if (isDigit(code) || code === MINUS ? this.takePlainNumber() : this.takePlainLiteral()) return 'on';
    return 'bare';
  }

  /** `true`, `false` and `null`, followed by a delimiter. */
  private takePlainLiteral(): boolean {
    const { text, position } = this.source;
    for (const [word, value] of LITERALS) {
      if (!text.startsWith(word, position) || !isDelimiter(text.charCodeAt(position + word.length))) continue;
      this.source.position += word.length;
      this.placeScalar(value);
      return true;
    }
    return false;
  }

  /** The usual number, whole and followed by a delimiter, without the detour over a token. */
  private takePlainNumber(): boolean {
    const { source } = this;
    NUMBER.lastIndex = source.position;
    if (!NUMBER.test(source.text)) return false;
    const end = NUMBER.lastIndex;
    if (!isDelimiter(source.text.charCodeAt(end))) return false;
    const token = source.text.slice(source.position, end);
    source.position = end;
    this.placeScalar(convertNumber(token, this.policy.numbers));
    return true;
  }

  private stepAfterItem(code: number): Step {
    if (code === COMMA) return this.advance('item');
    if (code === CLOSE_BRACKET || code === CLOSE_BRACE) return this.stepClose(code);
    if (code === PLUS) return this.stepConcatenation();
    if (code === CLOSE_PARENTHESIS && this.insideCall) return this.leaveCall();
    if (code === COLON || code === SEMICOLON) return this.refuse('an item should end here');
    this.addMissingComma('added a comma between items');
    return this.goTo('item');
  }

  private stepKey(code: number): Step {
    const { source } = this;
    switch (code) {
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (this.state === 'key') this.repair('extra_comma', 'removed a trailing comma');
        return this.stepClose(code);
      case COMMA:
        this.repair('extra_comma', 'removed a comma');
        return this.advance();
      case OPEN_BRACE:
        if (this.arrayAbove) return this.closeMissing('added the missing end of an object');
        return this.refuse('a key should begin here');
      case COLON:
      case OPEN_BRACKET:
      case OPEN_PARENTHESIS:
      case SEMICOLON:
        return this.refuse('a key should begin here');
    }
    this.role = 'key';
    if (isQuote(code)) return 'string';
    if (code === BACKSLASH) return this.stepBackslash();
    const dots = ellipsisLength(source.text, source.position);
    return dots > 0 ? this.takeEllipsis(dots) : 'bare';
  }

  /** `\"` where a token should begin: the quotes of the whole value were escaped. */
  private stepBackslash(): Step {
    const { source } = this;
    if (source.position + 1 >= source.text.length && !source.final) return 'wait';
    return isQuote(source.text.charCodeAt(source.position + 1)) ? 'string' : this.refuse('a backslash stands between tokens');
  }

  private stepColon(code: number): Step {
    const { source } = this;
    switch (code) {
      case COLON:
        this.partsRead++;
        return this.advance('member');
      case EQUALS:
        if (source.position + 1 >= source.text.length && !source.final) return 'wait';
        this.repair('missing_colon', 'replaced an equals sign by a colon');
        if (source.text.charCodeAt(source.position + 1) === GREATER_THAN) source.position++;
        return this.advance('member');
      case COMMA:
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
      case SEMICOLON:
        return this.refuse('a key has neither colon nor value');
    }
    // Words before a bracket or a string are rather code or prose than a key.
    if (this.keyWasBare && this.policy.bareText === 'cautious') return this.refuse('a colon should stand behind this key');
    this.repair('missing_colon', 'added a colon behind a key');
    return this.goTo('member');
  }

  private stepAfterMember(code: number): Step {
    switch (code) {
      case COMMA:
        return this.advance('key');
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        return this.stepClose(code);
      case PLUS:
        return this.stepConcatenation();
      case SEMICOLON:
        this.repair('missing_comma', 'replaced a semicolon by a comma');
        return this.advance('key');
      case OPEN_BRACE:
        if (this.arrayAbove) return this.closeMissing('added the missing end of an object');
        return this.refuse('a member should end here');
      case COLON:
      case OPEN_BRACKET:
        return this.refuse('a member should end here');
    }
    if (code === CLOSE_PARENTHESIS && this.insideCall) return this.leaveCall();
    this.addMissingComma('added a comma between members');
    return this.goTo('key');
  }

  /** The root is finished and nothing else should follow. */
  private stepEnd(code: number): Step {
    if (code === PLUS) return this.stepConcatenation();
    if (code === CLOSE_PARENTHESIS && this.insideCall) return this.leaveCall();
    if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      this.repair('extra_bracket', 'removed a closing bracket');
      return this.advance();
    }
    if (code === SEMICOLON || (code === COMMA && !this.rootCommaSeen)) {
      this.rootCommaSeen = code === COMMA;
      this.repair('extra_comma', 'removed a separator behind the value');
      return this.advance();
    }
    if (this.source.allows('several_values') && (this.rootCommaSeen || this.filler.lineFeedSeen)) {
      this.repair('several_values', 'put several values into an array');
      this.builder.wrapRoot();
      this.rootsWrapped = true;
      return this.goTo('item');
    }
    return this.refuse('text follows the value');
  }

  private openContainer(isArray: boolean): Step {
    if (this.depth >= this.policy.depth) {
      const message = `the value is nested deeper than ${this.policy.depth} levels`;
      this.source.fail('LIMIT_EXCEEDED', message, this.source.offset(this.source.position));
      return 'wait';
    }
    if (this.depth > 0) this.partsRead++;
    this.builder.open(isArray);
    return this.advance(isArray ? 'first-item' : 'first-key');
  }

  private stepClose(code: number): Step {
    const closesArray = code === CLOSE_BRACKET;
    if (closesArray !== this.builder.inArray) {
      if (closesArray ? this.arrayAbove : this.objectAbove) return this.closeMissing(`added a missing ${closesArray ? '}' : ']'}`);
      this.repair('missing_bracket', `replaced a closing bracket by ${closesArray ? '}' : ']'}`);
    } else if (this.rootsWrapped && this.depth === 1) {
      this.repair('extra_bracket', 'removed a closing bracket');
      return this.advance();
    }
    this.builder.close();
    return this.advance(this.stateAfterValue());
  }

  /** Closes the innermost container although its bracket is missing; the character under the position is taken again. */
  private closeMissing(message: string): Step {
    this.repair('missing_bracket', message);
    this.builder.close();
    return this.goTo(this.stateAfterValue());
  }

  private leaveValueOut(): Step {
    this.repair('missing_value', 'a key has no value');
    if (this.policy.missingValue === 'null') this.builder.place(null);
    return this.goTo('after-member');
  }

  private addMissingComma(message: string): void {
    if (ellipsisLength(this.source.text, this.source.position) === 0) this.repair('missing_comma', message);
  }

  /** An ellipsis stands for items or members left out; text right behind it would make it an operator. */
  private takeEllipsis(length: number): Step {
    const { source } = this;
    const end = source.position + length;
    if (end === source.text.length && !source.final) return 'wait';
    source.repair('ellipsis', 'removed an ellipsis', source.offset(source.position), length);
    source.position = end;
    if (this.state === 'member') return this.leaveValueOut();
    if (this.state === 'root') return this.refuse('an ellipsis stands where the value should begin');
    const code = asciiPunctuation(this.filler.skip(this.state, this.depth));
    this.state = this.builder.inArray ? 'after-item' : 'after-member';
    if (code === -1 || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) return code === -1 ? 'wait' : 'on';
    return this.refuse('an ellipsis is followed by text');
  }

  /** `"a" + "b"` */
  private stepConcatenation(): Step {
    if (typeof this.builder.last !== 'string') return this.refuse('an operator stands behind a value');
    this.repair('concatenation', 'joined strings');
    this.source.position++;
    const code = this.filler.skip(this.state, this.depth);
    if (isQuote(code)) this.concatenate();
    else if (this.policy.bareText === 'cautious' && code !== -1) return this.refuse('an operator stands behind a value');
    return 'on';
  }

  private concatenate(): void {
    this.concatenating = true;
    this.state = this.depth === 0 ? 'root' : this.builder.inArray ? 'item' : 'member';
  }

  private leaveCall(): Step {
    this.openCalls--;
    return this.advance();
  }

  private stateAfterValue(): State {
    this.filler.lineFeedSeen = false;
    if (this.depth === 0) return 'end';
    return this.builder.inArray ? 'after-item' : 'after-member';
  }

  private repair(kind: Parameters<Source['repair']>[0], message: string): void {
    this.source.repair(kind, message, this.source.offset(this.source.position));
  }

  private advance(state: State = this.state): Step {
    this.source.position++;
    return this.goTo(state);
  }

  private goTo(state: State): Step {
    this.state = state;
    return 'on';
  }
}

function isDelimiter(code: number): boolean {
  return (
    code === COMMA ||
    code === CLOSE_BRACE ||
    code === CLOSE_BRACKET ||
    code === SPACE ||
    code === LINE_FEED ||
    code === CARRIAGE_RETURN
  );
}
