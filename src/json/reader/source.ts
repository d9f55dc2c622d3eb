import type { Repair, RepairKind } from '../repair.js';

/** Why a reading ended without a value. */
export interface ReadFailure {
  readonly code: 'SYNTAX' | 'TRUNCATED' | 'LIMIT_EXCEEDED';
  readonly message: string;
  readonly offset: number;
}

/** How much text already read is kept for those who must look back. */
export const LOOK_BEHIND = 64;

/**
 * The text under the reader's eyes: what has arrived and is not yet read, where it stands in the whole, and what had to
 * be repaired so far. What was read is let go when more arrives, but for the last few characters.
 */
export class Source {
  text = '';
  /** Index of the next character to read in `text`. */
  position = 0;
  /** Offset of `text[0]` in the whole. */
  base: number;
  /** No more text will come. */
  final = false;
  failure: ReadFailure | undefined;
  readonly repairs: Repair[] = [];
  private readonly allowed: ReadonlySet<RepairKind>;
  private lastRepairEnd = -1;

  constructor(base: number, allowed: ReadonlySet<RepairKind>) {
    this.base = base;
    this.allowed = allowed;
  }

  append(chunk: string): void {
    const dropped = Math.max(0, this.position - LOOK_BEHIND);
    this.text = this.text.slice(dropped) + chunk;
    this.base += dropped;
    this.position -= dropped;
  }

  /** The text ends at `position`, whatever follows. */
  endHere(): void {
    this.text = this.text.slice(0, this.position);
    this.final = true;
  }

  /** Offset in the whole of an index into `text`. */
  offset(index: number): number {
    return this.base + index;
  }

  allows(kind: RepairKind): boolean {
    return this.allowed.has(kind);
  }

  /** Records a repair at an offset of the whole, or fails where the policy forbids it. A run of one kind is one repair. */
  repair(kind: RepairKind, message: string, offset: number, length = 1): void {
    if (!this.allowed.has(kind)) {
      this.fail(kind === 'truncated' ? 'TRUNCATED' : 'SYNTAX', message, offset);
      return;
    }
    const last = this.repairs.at(-1);
    if (last === undefined || last.kind !== kind || this.lastRepairEnd !== offset) this.repairs.push({ kind, message, offset });
    this.lastRepairEnd = offset + length;
  }

  fail(code: ReadFailure['code'], message: string, offset: number): void {
    this.failure ??= { code, message, offset };
  }
}
