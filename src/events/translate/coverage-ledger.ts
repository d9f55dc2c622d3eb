import type { ByteRange, StreamCoverage } from '../protocol/translator-output.js';

/**
 * Compares the bytes that arrived on one stream with the bytes that its frames cover. It does not rely on the framer or on the
 * order of frames. While frames arrive in order, each costs one comparison.
 */
export class CoverageLedger {
  #bytes = 0;
  /** Sorted, without adjacent ranges; normally a single range. */
  #claimed: [from: number, to: number][] = [];
  readonly #doubled: ByteRange[] = [];

  receive(bytes: number): void {
    this.#bytes += bytes;
  }

  claim(from: number, to: number): void {
    if (to <= from) return;
    const last = this.#claimed.at(-1);
    if (last === undefined || from > last[1]) this.#claimed.push([from, to]);
    else if (from === last[1]) last[1] = to;
    else this.#claimOutOfOrder(from, to);
  }

  report(): StreamCoverage {
    const unclaimed: ByteRange[] = [];
    let covered = 0;
    let claimed = 0;
    for (const [from, to] of this.#claimed) {
      if (from > covered) unclaimed.push([covered, from]);
      claimed += to - from;
      covered = to;
    }
    if (covered < this.#bytes) unclaimed.push([covered, this.#bytes]);
    return { bytes: this.#bytes, claimed, unclaimed, doubled: [...this.#doubled] };
  }

  /** Claims a range that is not at the end. The part that is already covered is doubled, the rest fills gaps. */
  #claimOutOfOrder(from: number, to: number): void {
    const merged: [number, number][] = [];
    let start = from;
    let end = to;
    for (const range of this.#claimed) {
      const overlap: ByteRange = [Math.max(from, range[0]), Math.min(to, range[1])];
      if (overlap[0] < overlap[1]) this.#doubled.push(overlap);
      if (range[1] < start || range[0] > end) merged.push(range);
      else {
        start = Math.min(start, range[0]);
        end = Math.max(end, range[1]);
      }
    }
    merged.push([start, end]);
    this.#claimed = merged.toSorted((left, right) => left[0] - right[0]);
  }
}
