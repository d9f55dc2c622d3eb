import { isBareKey, readBareText, type BareRepair } from './bare-text.js';
import { BareToken } from './bare-token.js';
import type { ReaderPolicy } from './reader-policy.js';
import { Source } from './source.js';
import { StringToken } from './string-token.js';
import { Structure } from './structure.js';
import type { ValueListener } from './value-builder.js';

/** White space behind the last bracket that is looked through. */
const LONGEST_TAIL = 64;
const MESSAGES: Readonly<Record<BareRepair, string>> = {
  literal: 'replaced a word by the JSON literal it stands for',
  number: 'rewrote a number as JSON writes it',
  unquoted_string: 'put text in quotes',
  truncated: 'the text ends inside a number',
};

/**
 * The tolerant reader: text in pieces of any size, one value out, every repair recorded. It keeps its own stack, reads
 * each character once (plus a bounded look ahead at quotes) and is the same for a whole text and for a stream.
 */
export class Reader {
  readonly source: Source;
  readonly structure: Structure;
  private readonly policy: ReaderPolicy;
  private readonly string = new StringToken();
  private readonly bare = new BareToken();
  private token: 'none' | 'string' | 'bare' = 'none';
  /** An unclosed string was read again up to the next delimiter; later ones must not run to the end of the text either. */
  private rereadsStrings = false;

  constructor(policy: ReaderPolicy, offset = 0, listener?: ValueListener) {
    this.policy = policy;
    this.source = new Source(offset, policy.repairs);
    this.structure = new Structure(this.source, policy, listener);
  }

  /** The value so far. */
  get value(): unknown {
    return this.structure.builder.root;
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
    this.structure.finish();
  }

  /** Shows the unfinished string, if there is one, in its place. */
  showUnfinishedString(): void {
    if (this.token === 'string' && this.structure.role !== 'key') this.structure.builder.show(this.string.shown);
  }

  /** Shows the unfinished number or literal where its text so far is one that `accept` takes. */
  showUnfinishedBare(accept: (value: unknown) => boolean): void {
    if (this.token !== 'bare' || this.structure.role === 'key') return;
    const reading = readBareText(this.bare.text, true, this.policy);
    if (reading.kind !== 'refused' && 'value' in reading && accept(reading.value)) this.structure.builder.show(reading.value);
  }

  /** Shows a key whose value has not begun, with `null`. */
  showUnfinishedKey(): void {
    if (this.token === 'none' && this.structure.awaitsValue) this.structure.builder.show(null);
  }

  private run(): void {
    while (this.source.failure === undefined) {
      if (!this.advance()) return;
    }
  }

  /** One token or structural character; false when there is nothing more to read for now. */
  private advance(): boolean {
    if (this.token === 'string') return this.readString();
    if (this.token === 'bare') return this.readBare();
    switch (this.structure.step()) {
      case 'on':
        return true;
      case 'wait':
        return false;
      case 'string':
        return this.openString();
      case 'bare':
        this.openBare(this.structure.insideCall ? ')' : '');
        return true;
    }
  }

  private openString(): boolean {
    if (this.rereadsStrings) return this.rereadAsBareText(this.source.position);
    if (!this.string.open(this.source)) return false;
    this.token = 'string';
    return true;
  }

  private openBare(extraStops: string): void {
    this.bare.open(this.source, this.structure.role === 'key', extraStops);
    this.token = 'bare';
  }

  private readString(): boolean {
    const progress = this.string.read(this.source, this.structure);
    if (progress === 'more' || this.source.failure !== undefined) return false;
    this.token = 'none';
    if (progress === 'cut' && !this.endCutString()) return false;
    if (this.token !== 'none') return true;
    if (this.structure.role === 'key') {
      this.structure.placeKey(this.string.content, this.string.offset, false);
      return true;
    }
    if (this.isQuotedProse()) {
      this.structure.refuse('this is quoted text, not JSON');
      return false;
    }
    this.structure.placeString(this.string.content);
    if (this.string.separatorPassed !== 'none') this.structure.passSeparator(this.string.separatorPassed);
    return true;
  }

  /** A root string that needs its quotes mended is a sentence with quotation marks. */
  private isQuotedProse(): boolean {
    return this.structure.role === 'root' && this.string.unescapedSeen && this.policy.bareText === 'cautious';
  }

  /** The text ended inside a string: finds where it should have ended, or keeps what there is of it. */
  private endCutString(): boolean {
    const { source } = this;
    if (this.isQuotedProse()) return true;
    const opened = this.string.offset - source.base;
    if (this.policy.bareText === 'any' && opened >= 0 && /[\]},+]\s*$/.test(source.text.slice(-LONGEST_TAIL))) {
      this.rereadsStrings = true;
      return this.rereadAsBareText(opened);
    }
    const lineEnd = this.findLostLineEnd(opened);
    if (lineEnd !== -1) this.string.endAtLine(source, lineEnd);
    else source.repair('truncated', 'the text ends inside a string', source.offset(source.text.length));
    return source.failure === undefined;
  }

  /**
   * Index of the line break that ends a string without end quote: behind it stand just the brackets that close all that is
   * open. -1 if the string was really cut.
   */
  private findLostLineEnd(opened: number): number {
    if (this.structure.role === 'key' || this.structure.role === 'root') return -1;
    const { text } = this.source;
    const { closingBrackets } = this.structure.builder;
    let brackets = '';
    for (let at = text.length - 1; at > Math.max(opened, -1); at--) {
      const character = text.charAt(at);
      if (character === '\n') {
        if (brackets === closingBrackets) return at;
      } else if (character === '}' || character === ']') {
        brackets = character + brackets;
        if (brackets.length > closingBrackets.length) return -1;
      } else if (character.trim() !== '') {
        return -1;
      }
    }
    return -1;
  }

  /** A string whose end quote is missing, read up to the next delimiter instead of to the end of the text. */
  private rereadAsBareText(at: number): boolean {
    this.source.repair('missing_quote', 'added the missing end quote of a string', this.source.offset(at));
    this.source.position = at + 1;
    this.openBare('+');
    return true;
  }

  private readBare(): boolean {
    const { source, structure } = this;
    const progress = this.bare.read(source, this.policy);
    if (progress === 'more') return false;
    this.token = 'none';
    if (progress === 'call') {
      source.repair('function_call', 'removed the name of a function', this.bare.offset);
      structure.enterCall();
      return true;
    }
    return structure.role === 'key' ? this.placeBareKey(progress === 'cut') : this.placeBareValue(progress === 'cut');
  }

  private placeBareKey(cut: boolean): boolean {
    const { source, bare, structure } = this;
    if (cut) source.repair('truncated', 'the text ends inside a key', source.offset(source.text.length));
    else if (!isBareKey(bare.text, this.policy)) structure.refuse('a key should stand here');
    else if (bare.strayQuote) source.repair('missing_quote', 'added the missing quote of a key', bare.offset);
    else source.repair('unquoted_key', 'put a key in quotes', bare.offset);
    structure.placeKey(bare.text, bare.offset, !bare.strayQuote);
    return true;
  }

  private placeBareValue(atEnd: boolean): boolean {
    const { source, bare, structure } = this;
    if (bare.strayQuote) {
      source.repair('missing_quote', 'added the missing quote of a string', bare.offset);
      structure.placeString(bare.text);
      return true;
    }
    const reading = readBareText(bare.text, atEnd, this.policy);
    if (reading.kind === 'refused') {
      structure.refuse('this is neither a value nor plain text');
      return false;
    }
    if (reading.kind === 'cut') {
      source.repair('truncated', 'the text ends inside a value', source.offset(source.text.length));
      // At the root nothing else is left, and only one literal begins like this.
      if (structure.depth > 0) return true;
      if (!('value' in reading)) source.fail('TRUNCATED', 'the text ends before the value does', source.offset(source.text.length));
    } else if (reading.repair !== undefined) {
      if (reading.repair === 'unquoted_string' && structure.role === 'root' && this.policy.bareText === 'cautious') {
        structure.refuse('this is text, not JSON');
      }
      source.repair(reading.repair, MESSAGES[reading.repair], bare.offset);
    }
    if (typeof reading.value === 'string') structure.placeString(reading.value);
    else structure.placeScalar(reading.value);
    return true;
  }
}
