import type { Report } from '../engines/report.js';
import type { Frame } from '../framing/frame.js';

/** Counts the records of a terminal that the streams had lost, and those that could not be compared. */
export class MergeTally {
  #restored = 0;
  #first: Frame | null = null;
  #last: Frame | null = null;
  #setAside = 0;

  get hasRestored(): boolean {
    return this.#restored > 0;
  }

  addRestored(frame: Frame): void {
    this.#restored += 1;
    this.#first ??= frame;
    this.#last = frame;
  }

  addSetAside(): void {
    this.#setAside += 1;
  }

  /** Tells both; `why` records were set aside is asked only if some were. */
  tell(report: Pick<Report, 'spanning' | 'warning'>, why: () => string): void {
    if (this.#first !== null && this.#last !== null) {
      report.spanning(this.#first, this.#last);
      const message = `Restored ${this.#restored} records from the terminal that stdout had lost.`;
      report.warning('PTY_STREAM_MISMATCH', message);
    }
    if (this.#setAside === 0) return;
    report.warning('PTY_STREAM_MISMATCH', `Set ${this.#setAside} records of the terminal aside: ${why()}.`);
  }
}
