import { MAX_REPAIRS, LOOK_BEHIND, JOIN_LENGTH } from '../bounds.js';
import { type Repair, createRepair, type RepairKind, type RepairSet } from '../repair.js';

/** Why the input could not be read. */
export interface ReadFailure {
  readonly code: 'SYNTAX' | 'TRUNCATED' | 'LIMIT_EXCEEDED';
  readonly message: string;
  readonly offset: number;
}

/** The message for input that ends too early. */
export const CUT_OFF = 'The text is cut off';

/**
 * The input being read: what has arrived but is still unread, its offset in the whole input, and the repairs so far.
 * Consumed input is released when more arrives, except for the last few characters.
 */
export class Source {
  text = '';
  /** Index of the next character to read in `text`. */
  at = 0;
  /** Offset of `text[0]` in the whole input. */
  declare base: number;
  /** No more input will arrive. */
  final = false;
  declare failure: ReadFailure | undefined;
  readonly repairs: { -readonly [Field in keyof Repair]: Repair[Field] }[] = [];
  declare readonly allowed: RepairSet;
  /** A LaTeX command with a single backslash was found (`\alpha`), so `\beta` is a command too, not the escape `\b`. */
  declare formulas: boolean;
  /** Offset where dots, words or a comment replace items or members. */
  declare elidedAt: number | undefined;
  #lastRepairEnd = -1;

  constructor(base: number, allowed: RepairSet, formulas = false) {
    this.base = base;
    this.allowed = allowed;
    this.formulas = formulas;
  }

  /** Appends input; anything after {@link endHere} is ignored. */
  append(chunk: string): void {
    if (this.final) return;
    const dropped = Math.max(0, this.at - LOOK_BEHIND);
    this.text = this.text.slice(dropped) + chunk;
    this.base += dropped;
    this.at -= dropped;
  }

  /** Ends the input here and ignores the rest. */
  endHere(): void {
    this.text = this.text.slice(0, this.at);
    this.final = true;
  }

  /** Whether `count` more characters have arrived, or no more will. */
  has(count: number): boolean {
    return this.final || this.at + count <= this.text.length;
  }

  /** The character at the position, or `ahead` characters after it; empty after the end. */
  char(ahead = 0): string {
    return this.text.charAt(this.at + ahead);
  }

  /** Length of the sticky pattern's match at the position, or `ahead` characters after it; -1 without a match. */
  matchHere(pattern: RegExp, ahead = 0): number {
    pattern.lastIndex = this.at + ahead;
    return pattern.test(this.text) ? pattern.lastIndex - this.at - ahead : -1;
  }

  /**
   * Records a repair at an index in `text`, or fails if the policy forbids it. Adjacent repairs of one kind count as
   * one.
   */
  repair(kind: RepairKind, index = this.at, length = 1): void {
    const offset = this.base + index;
    if (!this.allowed(kind)) {
      if (kind === 'truncated') this.fail(index, 'TRUNCATED', CUT_OFF);
      else this.fail(index, 'SYNTAX', `Invalid JSON: ${createRepair(kind, 0).message}`);
    } else if (this.#lastRepairEnd !== offset || this.repairs.at(-1)?.kind !== kind) {
      const lastListed = this.repairs[MAX_REPAIRS - 1];
      // `truncated` is always listed: callers look for it at the end.
      if (!lastListed || kind === 'truncated') this.repairs.push(createRepair(kind, offset));
      else lastListed.omitted = (lastListed.omitted ?? 0) + 1;
    }
    this.#lastRepairEnd = offset + length;
    if (kind === 'ellipsis') this.elide();
  }

  /** Notes that the last repair removed something in place of items or members. */
  elide(): void {
    this.elidedAt ??= this.repairs.at(-1)?.offset ?? 0;
  }

  /** Records that the input was cut off. */
  repairEnd(): void {
    this.repair('truncated', this.text.length, 0);
  }

  /** Stops reading because of an error at this index. */
  fail(index = this.at, code: ReadFailure['code'] = 'SYNTAX', message = 'Invalid JSON'): void {
    this.failure ??= { code, message, offset: this.base + index };
  }
}

/**
 * A string built from small chunks. It takes little more memory than its size, and joined chunks are not copied again.
 */
export class TextBuilder {
  #joined = '';
  /** The latest chunks: at least the last one, until `join` is called. */
  #tail = '';

  append(piece: string): void {
    if (this.#tail.length >= JOIN_LENGTH) this.join();
    this.#tail += piece;
  }

  /** Joins the chunks: reading a character makes V8 join them in memory and release them. */
  join(): void {
    if (this.#tail.charCodeAt(0) >= 0) this.#joined += this.#tail;
    this.#tail = '';
  }

  get text(): string {
    return this.#joined + this.#tail;
  }

  /**
   * The string without its last character. Only the tail is copied, so calling it after each chunk takes linear time.
   */
  get withoutLast(): string {
    return this.#joined + this.#tail.slice(0, -1);
  }
}
