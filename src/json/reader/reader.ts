import { isBareKey, readBareText } from './bare-text.js';
import { readBareToken, type BareToken } from './bare-token.js';
import type { ReaderPolicy } from './reader-policy.js';
import { CUT_OFF, Source } from './source.js';
import { StringToken } from './string-token.js';
import { Structure } from './structure.js';
import type { ValueListener } from './value-builder.js';

/** White space behind the last bracket that is looked through. */
const LONGEST_TAIL = 64;

/**
 * The tolerant reader: text in pieces of any size, one value out, every repair recorded. It keeps its own stack, reads
 * each character once (plus a bounded look ahead at quotes) and is the same for a whole text and for a stream.
 */
export class Reader {
  readonly source: Source;
  readonly structure: Structure;
  readonly #policy: ReaderPolicy;
  readonly #string = new StringToken();
  #token: 'none' | 'string' | 'bare' = 'none';
  /** An unclosed string was read again up to the next delimiter; later ones must not run to the end of the text either. */
  #rereadsStrings = false;

  constructor(policy: ReaderPolicy, offset = 0, listener?: ValueListener) {
    this.#policy = policy;
    this.source = new Source(offset, policy.repairs);
    this.structure = new Structure(this.source, policy, listener);
  }

  /** The value so far. */
  get value(): unknown {
    return this.structure.builder.root;
  }

  /** Offset behind the last character that was read. */
  get offset(): number {
    return this.source.base + this.source.at;
  }

  /** Reads on. Stops early when the value is finished and the text behind it does not matter. */
  push(chunk: string): void {
    this.source.append(chunk);
    this.#run();
  }

  /** No more text comes: closes what is open where the policy allows it. */
  end(): void {
    this.source.final = true;
    this.#run();
    if (this.source.failure === undefined) this.structure.finish();
  }

  /** Shows what is not finished yet in its place, as far as `options` ask for it. */
  showUnfinished(options: { strings: boolean; numbers: boolean; literals: boolean; keys: boolean }): void {
    const { builder, role, awaitsValue } = this.structure;
    if (this.#token === 'none') {
      if (awaitsValue && options.keys) builder.show(null);
    } else if (role === 'key') {
      return;
    } else if (this.#token === 'string') {
      if (options.strings) builder.show(this.#string.shown);
    } else {
      const reading = readBareText(this.source.text.slice(this.source.at), true, this.#policy);
      if (reading === undefined || !('value' in reading) || typeof reading.value === 'string') return;
      if (typeof reading.value === 'number' ? options.numbers : options.literals) builder.show(reading.value);
    }
  }

  #run(): void {
    while (this.source.failure === undefined && this.#advance());
  }

  /** One token or structural character; false when there is nothing more to read for now. */
  #advance(): boolean {
    if (this.#token === 'string') return this.#readString();
    if (this.#token === 'bare') return this.#readBare(this.structure.insideCall ? ')' : '');
    const step = this.structure.step();
    if (step === 'on' || step === 'wait') return step === 'on';
    if (step === 'string' && this.#rereadsStrings) return this.#rereadAsBareText(this.source.at);
    if (step === 'string') this.#string.open(this.source);
    this.#token = step;
    return true;
  }

  #readString(): boolean {
    const { structure } = this;
    const string = this.#string;
    const progress = string.read(this.source, structure);
    if (progress === 'more') return false;
    this.#token = 'none';
    const refused = !this.#policy.generous && this.#isNoString();
    if (refused) structure.refuse();
    else if (progress === 'cut' && !this.#endCutString()) return true;
    if (structure.role === 'key') structure.placeKey(string.content, string.offset, false);
    else structure.placeString(string.content);
    if (string.separator !== '') structure.passSeparator(string.separator);
    return true;
  }

  /** A root string that needs its quotes mended is a sentence with quotation marks; operators and `${` are code. */
  #isNoString(): boolean {
    const { unescapedSeen, operatorSeen, isTemplate } = this.#string;
    return (
      (this.structure.role === 'root' && (unescapedSeen || this.source.repairs.length > 0)) ||
      operatorSeen ||
      isTemplate
    );
  }

  /** The text ended inside a string: finds where it should have ended, or keeps what there is of it. */
  #endCutString(): boolean {
    const { source } = this;
    const opened = this.#string.offset - source.base;
    if (this.#policy.generous && opened >= 0 && /[\]},+]\s*$/.test(source.text.slice(-LONGEST_TAIL))) {
      this.#rereadsStrings = true;
      this.#rereadAsBareText(opened);
      return false;
    }
    const lineEnd = this.#findLostLineEnd(opened);
    if (lineEnd === -1) source.repairEnd();
    else this.#string.endAtLine(source, lineEnd);
    return source.failure === undefined;
  }

  /**
   * Index of the line break that ends a string without end quote: behind it stand just the brackets that close all that is
   * open. -1 if the string was really cut.
   */
  #findLostLineEnd(opened: number): number {
    const { text } = this.source;
    const tail = /\n[\s}\]]*$/.exec(
      text.slice(Math.max(opened, -1) + 1).slice(-2 * LONGEST_TAIL - 2 * this.structure.builder.depth),
    );
    const { role, builder } = this.structure;
    const closes = tail?.[0].replace(/\s+/g, '') === builder.closingBrackets;
    return tail !== null && closes && (role === 'member' || role === 'item') ? text.length - tail[0].length : -1;
  }

  /** A string whose end quote is missing, read up to the next delimiter instead of to the end of the text. */
  #rereadAsBareText(at: number): boolean {
    this.source.repair('missing_quote', at);
    this.source.at = at + 1;
    return this.#readBare('+');
  }

  #readBare(stops: string): boolean {
    const { source, structure } = this;
    const start = source.at;
    const isKey = structure.role === 'key';
    const token = structure.enterCall() ? 'call' : readBareToken(source, isKey, this.#policy, stops);
    if (token === undefined) return false;
    this.#token = 'none';
    if (token === 'call') return true;
    if (token.quote === 'foreign' && !this.#policy.generous) {
      structure.refuse();
    } else if (isKey) {
      this.#placeBareKey(token, start);
    } else {
      this.#placeBareValue(token, start);
    }
    return true;
  }

  #placeBareKey(token: BareToken, start: number): void {
    const { source, structure } = this;
    if (token.cut) source.repairEnd();
    else if (!isBareKey(token.text, this.#policy)) structure.refuse();
    else source.repair(token.quote === 'own' ? 'missing_quote' : 'unquoted_key', start);
    structure.placeKey(token.text, source.base + start, token.quote !== 'own');
  }

  #placeBareValue(token: BareToken, start: number): void {
    const { source, structure } = this;
    if (token.quote === 'own') {
      source.repair('missing_quote', start);
      structure.placeString(token.text);
      return;
    }
    const reading = readBareText(token.text, token.cut, this.#policy);
    if (reading === undefined) {
      structure.refuse();
      return;
    }
    if (reading.cut === true) {
      source.repairEnd();
      // At the root nothing else is left, and only one literal begins like this.
      if (structure.builder.depth > 0) return;
      if (!('value' in reading)) source.fail('TRUNCATED', CUT_OFF);
    } else if (reading.repair !== undefined) {
      const prose = reading.repair === 'unquoted_string' && structure.role === 'root' && !this.#policy.generous;
      if (prose) structure.refuse();
      source.repair(reading.repair, start);
    }
    if (typeof reading.value === 'string') structure.placeString(reading.value);
    else structure.placeScalar(reading.value);
  }
}
