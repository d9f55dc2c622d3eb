import { KEY, measureBare, PHRASE, readLiteralOrNumber, type BareReading, WORD } from './bare-token.js';
import { GenerousStructure } from './generous-structure.js';
import { readCutNumber } from './number.js';
import { Reader } from './reader.js';
import type { StringToken } from './string-token.js';
import type { ValueListener } from './value-builder.js';

const REGULAR_EXPRESSION = /\/(?:\\.|[^\\/\n]){0,1000}\//y;
/** White space after the last bracket that is looked through. */
const LONGEST_TAIL = 64;

/**
 * The reader of `repairJson`: it finds a value in any text. It takes unquoted text of any kind as a string, and reads a string
 * that is not closed again, up to the next delimiter. Its policy must allow all repairs.
 */
export class GenerousReader extends Reader {
  declare readonly structure: GenerousStructure;
  /** Ends unquoted text here, although such text may contain it elsewhere. */
  #stop = '';

  protected override createStructure(listener: ValueListener | undefined): GenerousStructure {
    return new GenerousStructure(this.source, this.policy, listener);
  }

  protected override startToken(kind: 'string' | 'bare'): boolean {
    const { structure, source } = this;
    return kind === 'string' && structure.rereads ? this.#reread(source.at) : super.startToken(kind);
  }

  protected override readBare(stop = this.structure.insideCall ? ')' : ''): boolean {
    this.#stop = stop;
    if (!this.structure.enterCall()) return super.readBare();
    this.token = undefined;
    return true;
  }

  protected override endCutString(string: StringToken): boolean {
    const { source, structure } = this;
    const opened = string.offset - source.base;
    if (opened < 0 || !/[\]},+]\s*$/.test(source.text.slice(-LONGEST_TAIL))) return super.endCutString(string);
    structure.rereads = true;
    this.#reread(opened);
    return false;
  }

  /** A string whose end quote is missing, read up to the next delimiter instead of to the end of the text. */
  #reread(at: number): boolean {
    this.source.repair('missing_quote', at);
    this.source.at = at + 1;
    return this.readBare('+');
  }

  protected override measureBare(isKey: boolean): number {
    const { source, policy } = this;
    const takeText = (length: number, stop = this.#stop): string => {
      const text = source.text.slice(source.at, source.at + length);
      return stop !== '' && text.includes(stop) ? text.slice(0, text.indexOf(stop)) : text;
    };
    const expression = isKey ? -1 : source.match(REGULAR_EXPRESSION);
    if (expression !== -1) return takeText(expression).length;
    const length = measureBare(source, isKey ? KEY : WORD);
    // `[3, 4)`: a wrong bracket is no part of the number before it.
    const word = takeText(length, /^[^(]+\)$/.test(takeText(length, '')) ? ')' : this.#stop);
    if (isKey || readLiteralOrNumber(word, policy) !== undefined) return word.length;
    return takeText(measureBare(source, PHRASE)).length;
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
