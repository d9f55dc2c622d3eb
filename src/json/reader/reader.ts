import * as State from './state.js';
import * as Step from './step.js';
import {
  type BareReading,
  type BareToken,
  isBareKey,
  measureBareToken,
  readBareText,
  readBareToken,
} from './bare-token.js';
import { LATEX_COMMAND } from './backslash-rules.js';
import type { ReaderPolicy } from './reader-policy.js';
import { CUT_OFF, type ReadFailure, Source } from './source.js';
import { StringToken } from './string-token.js';
import { Structure } from './structure.js';
import { ValueBuilder } from './value-builder.js';
import type { Repair } from '../repair.js';
import type { Warning } from '../result.js';

/**
 * The tolerant reader: chunks of any size in, one value out, every repair recorded. It keeps its own stack, reads each
 * character once (plus a bounded look-ahead at quotes) and works the same for a whole input and a stream.
 */
export class Reader {
  declare readonly cursor: Source;
  declare readonly structure: Structure;
  declare readonly policy: ReaderPolicy;
  /** The token being read: a string, unquoted text, or none. */
  declare token: StringToken | typeof Step.BARE | undefined;

  constructor(policy: ReaderPolicy, offset = 0, builder = new ValueBuilder()) {
    this.policy = policy;
    this.cursor = new Source(offset, policy.repairs, policy.formulas);
    this.structure = this.createStructure(builder);
  }

  protected createStructure(builder: ValueBuilder): Structure {
    return new Structure(this.cursor, this.policy, builder);
  }

  /** The value so far. */
  get value(): unknown {
    return this.structure.builder.root;
  }

  /** Reads a chunk. Stops early when the value is finished and what follows does not matter. */
  push(chunk: string): void {
    this.cursor.append(chunk);
    this.#run();
  }

  /** Ends the input: closes open containers if the policy allows it. */
  end(): void {
    this.cursor.final = true;
    this.#run();
    if (!this.cursor.failure) this.structure.finish();
    const { elidedAt } = this.cursor;
    if (elidedAt !== undefined && !this.policy.acceptsAnyText && this.cursor.repairs.at(-1)?.kind !== 'truncated')
      this.cursor.repair('truncated', elidedAt - this.cursor.base, 0);
  }

  #run(): void {
    while (!this.cursor.failure && this.#advance());
  }

  /** Reads one token; returns false when more input is needed. */
  #advance(): boolean {
    if (this.token === Step.BARE) return this.readBare();
    if (this.token) return this.#readString(this.token);
    const next = this.structure.run();
    return next !== Step.WAIT && this.startToken(next);
  }

  protected startToken(kind: Step.TokenKind): boolean {
    this.token = kind === Step.BARE ? kind : new StringToken(this.cursor);
    return true;
  }

  #readString(string: StringToken): boolean {
    const { cursor, structure } = this;
    const progress = string.read(structure);
    if (progress === Step.WAIT) return false;
    this.token = undefined;
    // A root string with unescaped quotes is a sentence with quotation marks.
    const isSentence = structure.role === State.ROOT && (string.unescapedSeen || cursor.repairs.length > 0);
    if (progress === Step.CUT && !this.endCutString(string)) return true;
    if ((isSentence || string.isDoubtful) && !this.policy.acceptsAnyText) cursor.fail(string.offset - cursor.base);
    if (structure.role === State.KEY) structure.placeKey(string.decoded, string.offset, false);
    else structure.placeScalar(progress === Step.CUT ? string.shown : string.decoded);
    if (string.separator !== '') structure.passSeparator(string.separator);
    return true;
  }

  /** The input ended inside a string: finds where the string should have ended, or keeps all of it. */
  protected endCutString(string: StringToken): boolean {
    const { role, builder } = this.structure;
    if (!string.endCut(role === State.KEY || role === State.ROOT ? -1 : builder.openDepth)) this.cursor.repairEnd();
    return !this.cursor.failure;
  }

  protected measureBare(isKey: boolean): number {
    return measureBareToken(this.cursor, isKey, this.policy);
  }

  protected readBareText(token: string, atEnd: boolean): BareReading | undefined {
    return readBareText(token, atEnd, this.policy);
  }

  protected readBare(): boolean {
    const { cursor, structure } = this;
    const start = cursor.at;
    const isKey = structure.role === State.KEY;
    const token = readBareToken(cursor, this.measureBare(isKey));
    if (!token) return false;
    this.token = undefined;
    if (token.endQuote === false && !this.policy.acceptsAnyText) {
      cursor.fail(start);
    } else if (isKey) {
      this.#placeBareKey(token, start);
    } else {
      this.#placeBareValue(token, start);
    }
    return true;
  }

  #placeBareKey(token: BareToken, start: number): void {
    const { cursor, structure } = this;
    if (token.cut) cursor.repairEnd();
    else if (!isBareKey(token.text, this.policy)) cursor.fail(start);
    else cursor.repair(token.endQuote ? 'missing_quote' : 'unquoted_key', start);
    structure.placeKey(token.text, cursor.base + start, !token.endQuote);
  }

  #placeBareValue(token: BareToken, start: number): void {
    const { cursor, structure } = this;
    if (structure.skipElision(token.text, start)) return;
    const reading: BareReading | undefined = token.endQuote
      ? { value: token.text, repair: 'missing_quote' }
      : this.readBareText(token.text, token.cut);
    if (!reading) {
      cursor.fail(start);
      return;
    }
    if (reading.cut) {
      cursor.repairEnd();
      // At the root nothing else can follow, and only one literal starts like this.
      if (structure.builder.openDepth > 0) return;
      if (!('value' in reading)) cursor.fail(start, 'TRUNCATED', CUT_OFF);
    } else if (reading.repair) {
      const prose =
        reading.repair === 'unquoted_string' && structure.role === State.ROOT && !this.policy.acceptsAnyText;
      if (prose) cursor.fail(start);
      if (reading.repair === 'truncated') cursor.repairEnd();
      else cursor.repair(reading.repair, start);
    }
    structure.placeScalar(reading.value);
  }
}

/** A value with its repairs. */
export interface ReadValue {
  readonly value: unknown;
  readonly repairs: readonly Repair[];
  readonly duplicates: readonly Warning[];
  /** Offset after the last character that was read. */
  readonly end: number;
  /** True if a double represents every number exactly; otherwise unknown. */
  readonly isExact?: boolean;
  /** The value is complete, but leaves out items or members. */
  readonly isElided?: true;
}

/** Why there is no value. */
interface Refusal {
  readonly ok: false;
  readonly failure: ReadFailure;
  /** It looks like JSON, although it could not be read. */
  readonly plausible: boolean;
  /** The value is complete, but leaves out items or members. */
  readonly isElided?: true;
  readonly end: number;
}

/** The result of reading: a value, a failure, or a failure with the partial value if the input was cut off. */
export type ReadResult = (ReadValue & { readonly ok: true }) | (ReadValue & Refusal) | Refusal;

/** The reading of a value that needed no repair. */
export function createReading(value: unknown, end: number, isExact = false): ReadResult {
  return { ok: true, value, repairs: [], duplicates: [], end, isExact };
}

/** A reading without a value, although the text looked like one. */
export function createRefusal(code: ReadFailure['code'], message: string, offset: number, end: number): Refusal {
  return { ok: false, failure: { code, message, offset }, plausible: true, end };
}

/** Reads one value from `text`, whose first character is at `offset` in the whole input. */
export function readValue(text: string, offset: number, policy: ReaderPolicy, ReaderClass = Reader): ReadResult {
  const reader = new ReaderClass(policy, offset);
  reader.push(text);
  reader.end();
  const { cursor, structure, value } = reader;
  // A string before the first known command may contain `\theta`, whose `\t` was decoded as a tab.
  if (cursor.formulas && !policy.formulas && LATEX_COMMAND.test(text))
    return readValue(text, offset, { ...policy, formulas: true }, ReaderClass);
  const { failure, repairs } = cursor;
  const { plausible, builder } = structure;
  const end = cursor.base + cursor.at;
  if (failure) return { ok: false, failure, plausible, end };
  const read: ReadValue = { value, repairs, duplicates: builder.duplicates, end, isExact: builder.isExact };
  const last = repairs.at(-1);
  if (last?.kind !== 'truncated') return { ok: true, ...read };
  if (cursor.elidedAt !== undefined && !policy.acceptsAnyText)
    return { ...createRefusal('TRUNCATED', 'The value leaves out items', last.offset, end), isElided: true, ...read };
  return { ...createRefusal('TRUNCATED', CUT_OFF, last.offset, end), plausible, ...read };
}
