import {
  asciiPunctuation,
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PARENTHESIS,
  COLON,
  COMMA,
  DOT,
  ELLIPSIS,
  EQUALS,
  GREATER_THAN,
  isQuote,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PARENTHESIS,
  PLUS,
  SEMICOLON,
} from './character.js';
import { Filler } from './filler.js';
import { convertNumber } from './number.js';
import type { StringSurroundings } from './quote-verdict.js';
import { tooDeep, type ReaderPolicy } from './reader-policy.js';
import type { Source } from './source.js';
import { ValueBuilder, type ValueListener } from './value-builder.js';

/** What the structure expects next; `first` is an item or key right behind its bracket, `dots` what follows an ellipsis. */
type State = 'root' | 'first' | 'item' | 'key' | 'colon' | 'member' | 'dots' | 'after' | 'end';

/** What to do after a structural character: go on, wait for more text, or read a token that begins here. */
export type Step = 'on' | 'wait' | 'string' | 'bare';

/** A number or literal as JSON writes it, with a delimiter behind it. */
const PLAIN_SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?=[,}\]\s])/y;
const LITERALS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);
const DOTS = /\.{3,}|…/y;

/**
 * The structure of a value while it is read: brackets, commas, colons, and where a token belongs. Each `step` takes one
 * structural character, mending what is missing or too much; tokens are read elsewhere and handed in.
 */
export class Structure implements StringSurroundings {
  readonly builder: ValueBuilder;
  readonly rootMustEnd: boolean;
  /** What the token that begins here will be. */
  role: StringSurroundings['role'] = 'root';
  readonly #source: Source;
  readonly #policy: ReaderPolicy;
  readonly #filler: Filler;
  #state: State = 'root';
  #partsRead = 0;
  #commaOffset = 0;
  #openCalls = 0;
  #keyWasBare = false;
  /** The next string is joined to the last. */
  #concatenating = false;
  #rootCommaSeen = false;
  /** Several roots are being collected in an array nobody wrote: the end of the text closes it. */
  #rootsWrapped = false;

  constructor(source: Source, policy: ReaderPolicy, listener: ValueListener | undefined) {
    this.#source = source;
    this.#policy = policy;
    this.builder = new ValueBuilder(listener);
    this.#filler = new Filler(source, !policy.rootMustEnd);
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
    return this.#openCalls > 0;
  }

  /** The root value is finished (more may follow it only where several roots are taken). */
  get complete(): boolean {
    return this.#state === 'end';
  }

  /** Whether anything speaks for JSON beyond the first bracket: a key with its colon, an item, a nested bracket. */
  get plausible(): boolean {
    return this.#partsRead > 0;
  }

  /** A key was read and its value not yet. */
  get awaitsValue(): boolean {
    return this.#state === 'colon' || this.#state === 'member';
  }

  /** Passes over white space and comments to the next structural character and takes it. */
  step(): Step {
    if (this.complete && !this.rootMustEnd) return 'wait';
    const written = this.#skip();
    if (written === -1 || this.#source.failure !== undefined) return 'wait';
    const code = asciiPunctuation(written);
    if (code !== written) this.#source.repair('punctuation');
    switch (this.#state) {
      case 'after':
      case 'end':
        return this.#stepAfter(code);
      case 'dots':
        return this.#stepDots(code);
      case 'colon':
        return this.#stepColon(code);
      case 'key':
        return this.#stepKey(code);
      case 'first':
        return this.builder.inArray ? this.#stepValue(code) : this.#stepKey(code);
      case 'root':
      case 'item':
      case 'member':
        return this.#stepValue(code);
    }
  }

  placeKey(key: string, offset: number, wasBare: boolean): void {
    this.builder.setKey(key, offset);
    this.#keyWasBare = wasBare;
    this.#state = 'colon';
  }

  placeString(content: string): void {
    const first = this.#concatenating ? this.builder.last : '';
    if (this.#concatenating) this.builder.reopenLast();
    this.#concatenating = false;
    this.placeScalar(String(first) + content);
  }

  placeScalar(value: unknown): void {
    if (this.#source.failure !== undefined) return;
    this.builder.place(value);
    this.#partsRead++;
    this.#endValue();
  }

  /** The separator behind the token placed last was read along with it. */
  passSeparator(separator: string): void {
    if (separator === '+') this.#concatenate();
    else if (separator === ':') this.#state = 'member';
    else this.#state = this.builder.inArray ? 'item' : 'key';
  }

  /** The name of a function was read; its parenthesis is passed over and the argument takes its place. */
  enterCall(): void {
    this.#source.at = this.#source.text.indexOf('(', this.#source.at) + 1;
    this.#openCalls++;
  }

  /** The text is over: closes what is open where the policy allows it. */
  finish(): void {
    if (this.complete) return;
    if (this.#state === 'root') this.refuse();
    const onlyWrapped = this.#rootsWrapped && this.depth === 1 && (this.#state === 'item' || this.#state === 'after');
    if (!onlyWrapped) this.#source.repairEnd();
    if (this.#source.failure !== undefined) return;
    if (this.awaitsValue && this.#policy.missingValue === 'null') this.builder.place(null);
    while (this.depth > 0) this.builder.close();
    this.#state = 'end';
  }

  /** This is no JSON, and nothing the reader may mend. */
  refuse(): Step {
    this.#source.fail();
    return 'wait';
  }

  #skip(): number {
    const state = this.#state;
    const valueDue = state === 'item' || state === 'member' || (state === 'first' && this.builder.inArray);
    return this.#filler.skip(
      state === 'root' ? state : state === 'first' && this.depth === 1 ? 'first' : valueDue ? 'value' : 'other',
    );
  }

  #stepValue(code: number): Step {
    const state = this.#state;
    switch (code) {
      case OPEN_BRACE:
      case OPEN_BRACKET:
        return this.#openContainer(code === OPEN_BRACKET);
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
      case COMMA:
        if (state === 'root') break;
        if (state === 'member') return this.#leaveValueOut();
        if (code !== COMMA) return this.#stepClose(code);
        this.#source.repair('extra_comma');
        return this.#advance();
      case COLON:
      case OPEN_PARENTHESIS:
      case CLOSE_PARENTHESIS:
      case SEMICOLON:
        break;
      default:
        this.role = this.depth === 0 ? 'root' : this.builder.inArray ? 'item' : 'member';
        return this.#stepToken(code);
    }
    return this.refuse();
  }

  #stepKey(code: number): Step {
    switch (code) {
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        return this.#stepClose(code);
      case COMMA:
        this.#source.repair('extra_comma');
        return this.#advance();
      case OPEN_BRACE:
        if (this.arrayAbove) return this.#closeMissing();
        break;
      case COLON:
      case OPEN_BRACKET:
      case OPEN_PARENTHESIS:
      case SEMICOLON:
        break;
      default:
        this.role = 'key';
        return this.#stepToken(code);
    }
    return this.refuse();
  }

  /** A token begins: the usual scalars are taken at once. */
  #stepToken(code: number): Step {
    const source = this.#source;
    if (isQuote(code)) return 'string';
    if (code === BACKSLASH) {
      // `\"`: the quotes of the whole value were escaped.
      if (!source.has(2)) return 'wait';
      return isQuote(source.code(1)) ? 'string' : this.refuse();
    }
    if (code === DOT && !source.has(3)) return 'wait';
    const dots = this.#dots(code);
    if (dots !== -1) return this.#takeEllipsis(dots);
    const length = this.role === 'key' ? -1 : source.match(PLAIN_SCALAR);
    if (length === -1) return 'bare';
    const token = source.text.slice(source.at, source.at + length);
    source.at += length;
    const literal = LITERALS.get(token);
    this.placeScalar(literal === undefined ? convertNumber(token, this.#policy.numbers) : literal);
    return 'on';
  }

  #stepColon(code: number): Step {
    const source = this.#source;
    const bareAndCautious = this.#keyWasBare && this.#policy.bareText === 'cautious';
    if (code === COLON) {
      this.#partsRead++;
      return this.#advance('member');
    }
    if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code === SEMICOLON) {
      return this.refuse();
    }
    // Words before a bracket, a string or an equals sign are rather code or prose than a key.
    if (bareAndCautious) return this.refuse();
    if (code === EQUALS && !source.has(2)) return 'wait';
    source.repair('missing_colon');
    if (code !== EQUALS) return this.#goTo('member');
    if (source.code(1) === GREATER_THAN) source.at++;
    return this.#advance('member');
  }

  /** Behind a value: in a container, or (`end`) behind the root, where nothing else should follow. */
  #stepAfter(code: number): Step {
    const atEnd = this.complete;
    const next = this.builder.inArray ? 'item' : 'key';
    if (code === PLUS) return this.#stepConcatenation();
    if (code === CLOSE_PARENTHESIS && this.insideCall) {
      this.#openCalls--;
      return this.#advance();
    }
    if (atEnd) return this.#stepEnd(code);
    if (code === DOT && !this.#source.has(3)) return 'wait';
    if (code === COMMA) {
      this.#commaOffset = this.#source.base + this.#source.at;
      return this.#advance(next);
    }
    if (code === CLOSE_BRACE || code === CLOSE_BRACKET) return this.#stepClose(code);
    if (next === 'key' && code === OPEN_BRACE && this.arrayAbove) return this.#closeMissing();
    const unfit =
      code === COLON || (next === 'item' ? code === SEMICOLON : code === OPEN_BRACE || code === OPEN_BRACKET);
    if (unfit) return this.refuse();
    if (this.#dots(code) === -1) this.#source.repair('missing_comma');
    return code === SEMICOLON ? this.#advance(next) : this.#goTo(next);
  }

  #stepEnd(code: number): Step {
    const source = this.#source;
    if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      source.repair('extra_bracket');
      return this.#advance();
    }
    if (code === SEMICOLON || (code === COMMA && !this.#rootCommaSeen)) {
      this.#rootCommaSeen = code === COMMA;
      source.repair('extra_comma');
      return this.#advance();
    }
    if (!source.allowed.has('several_values') || !(this.#rootCommaSeen || this.#filler.lineFeedSeen)) {
      return this.refuse();
    }
    source.repair('several_values');
    this.builder.wrapRoot();
    this.#rootsWrapped = true;
    return this.#goTo('item');
  }

  #openContainer(isArray: boolean): Step {
    if (this.depth >= this.#policy.depth) {
      this.#source.fail('LIMIT_EXCEEDED', tooDeep(this.#policy.depth));
      return 'wait';
    }
    if (this.depth > 0) this.#partsRead++;
    this.builder.open(isArray);
    return this.#advance('first');
  }

  #stepClose(code: number): Step {
    const closesArray = code === CLOSE_BRACKET;
    if (this.#state === 'item' || this.#state === 'key')
      this.#source.repair('extra_comma', this.#commaOffset - this.#source.base);
    if (closesArray !== this.builder.inArray) {
      if (closesArray ? this.arrayAbove : this.objectAbove) return this.#closeMissing();
      this.#source.repair('missing_bracket');
    } else if (this.#rootsWrapped && this.depth === 1) {
      this.#source.repair('extra_bracket');
      return this.#advance();
    }
    this.builder.close();
    this.#endValue();
    return this.#advance();
  }

  /** Closes the innermost container although its bracket is missing; the character under the position is taken again. */
  #closeMissing(): Step {
    this.#source.repair('missing_bracket');
    this.builder.close();
    this.#endValue();
    return 'on';
  }

  #leaveValueOut(): Step {
    this.#source.repair('missing_value');
    if (this.#policy.missingValue === 'null') this.builder.place(null);
    return this.#goTo('after');
  }

  /** The length of an ellipsis that begins with this character, -1 if none does. */
  #dots(code: number): number {
    return code === DOT || code === ELLIPSIS ? this.#source.match(DOTS) : -1;
  }

  /** An ellipsis stands for items or members left out. In the place of a value it stands for the answer. */
  #takeEllipsis(length: number): Step {
    const source = this.#source;
    if (source.at + length === source.text.length && !source.final) return 'wait';
    source.repair('ellipsis', source.at, length);
    source.at += length;
    if (this.#state === 'root' || (this.#state === 'member' && this.#policy.bareText === 'cautious'))
      return this.refuse();
    return this.#state === 'member' ? this.#leaveValueOut() : this.#goTo('dots');
  }

  /** Text behind an ellipsis makes it an operator; alone between brackets it stands for the answer. */
  #stepDots(code: number): Step {
    const closes = code === CLOSE_BRACE || code === CLOSE_BRACKET;
    const alone = closes && this.builder.isEmpty && this.#policy.bareText === 'cautious';
    if (alone || (code !== COMMA && !closes)) return this.refuse();
    this.#state = 'after';
    return this.#stepAfter(code);
  }

  /** `"a" + "b"` */
  #stepConcatenation(): Step {
    const source = this.#source;
    if (typeof this.builder.last !== 'string') return this.refuse();
    if (!source.final && source.match(/\+\s*$/y) !== -1) return 'wait';
    source.repair('concatenation');
    source.at++;
    const code = this.#skip();
    if (isQuote(code)) this.#concatenate();
    else if (this.#policy.bareText === 'cautious' && code !== -1) return this.refuse();
    return 'on';
  }

  #concatenate(): void {
    this.#concatenating = true;
    this.#state = this.depth === 0 ? 'root' : this.builder.inArray ? 'item' : 'member';
  }

  #endValue(): void {
    this.#filler.lineFeedSeen = false;
    this.#state = this.depth === 0 ? 'end' : 'after';
  }

  #advance(state: State = this.#state): Step {
    this.#source.at++;
    return this.#goTo(state);
  }

  #goTo(state: State): Step {
    this.#state = state;
    return 'on';
  }
}
