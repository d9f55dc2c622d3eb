import type { StreamName } from '../../events/index.js';
import type { Stop } from '../conduct/run-control.js';
import type { DecidedLimits } from '../spec/run-limits.js';

const NEWLINE = 0x0a;

/** Measures what an attempt prints against the limits of bytes and of one line. */
export class OutputGauge {
  readonly #limits: DecidedLimits;
  #bytes: number;
  readonly #line: Record<StreamName, number> = { stdout: 0, stderr: 0, pty: 0 };

  /** `before` is what earlier attempts of the run have printed. */
  constructor(limits: DecidedLimits, before: number) {
    this.#limits = limits;
    this.#bytes = before;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The part of the bytes that is within the limits, and which limit cut off the rest. */
  measure(stream: StreamName, bytes: Uint8Array): { readonly kept: Uint8Array; readonly stop: Stop | null } {
    const { output_bytes, line_bytes } = this.#limits;
    const tooMuch = Math.max(0, output_bytes - this.#bytes);
    const tooLong = this.#lineEnd(stream, bytes);
    const length = Math.min(bytes.length, tooMuch, tooLong);
    this.#bytes += length;
    if (length === bytes.length) return { kept: bytes, stop: null };
    const reason =
      length === tooMuch
        ? `The agent printed more than limits.output_bytes, ${output_bytes} bytes; allow more, or look for a loop.`
        : `The agent printed a line longer than limits.line_bytes, ${line_bytes} bytes; allow longer ones, or let it print less.`;
    return { kept: bytes.subarray(0, length), stop: { verdict: 'limit', reason } };
  }

  /** Where a line becomes too long; beyond the bytes if none does. */
  #lineEnd(stream: StreamName, bytes: Uint8Array): number {
    const { line_bytes } = this.#limits;
    let start = -this.#line[stream];
    for (;;) {
      const newline = bytes.indexOf(NEWLINE, Math.max(0, start));
      const end = newline === -1 ? bytes.length : newline;
      if (end - start > line_bytes) return start + line_bytes;
      if (newline === -1) break;
      start = newline + 1;
    }
    this.#line[stream] = bytes.length - start;
    return Number.POSITIVE_INFINITY;
  }
}
