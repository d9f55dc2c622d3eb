import * as Step from './step.js';
import { MAX_TAIL_LENGTH } from '../bounds.js';
import { KEY, measureBare, PHRASE, readLiteralOrNumber, type BareReading, WORD } from './bare-token.js';
import { AnyTextStructure } from './any-text-structure.js';
import { readCutNumber } from './number.js';
import { Reader } from './reader.js';
import type { StringToken } from './string-token.js';
import type { ValueListener } from './value-builder.js';

const REGULAR_EXPRESSION = /\/(?:\\.|[^\\/\n]){0,1000}\//y;

/**
 * The reader behind `repairJson`: it finds a value in any input. It accepts any unquoted text as a string, and rereads
 * an unclosed string up to the next delimiter. Its policy must allow all repairs.
 */
export class AnyTextReader extends Reader {
  declare readonly structure: AnyTextStructure;
  /** A character that ends unquoted text here; in other contexts it can be part of such text. */
  #stop = '';

  protected override createStructure(listener: ValueListener | undefined): AnyTextStructure {
    return new AnyTextStructure(this.cursor, this.policy, listener);
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
