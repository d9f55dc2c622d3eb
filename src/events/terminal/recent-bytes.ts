/** Limit on stored bytes: a terminal that starts late is compared with this much recent stream output. */
const CAPACITY = 4 * 1024 * 1024;
const INITIAL_SIZE = 64 * 1024;
const LINE_FEED = 0x0a;

/** The last bytes of a stream, in a ring buffer: memory is bounded, and the content does not depend on chunking. */
export class RecentBytes {
  #ring = new Uint8Array(0);
  #written = 0;

  /** Whether older bytes were dropped. */
  get isTruncated(): boolean {
    return this.#written > CAPACITY;
  }

  add(bytes: Uint8Array): void {
    this.#grow(this.#written + bytes.length);
    const recent = bytes.subarray(Math.max(0, bytes.length - CAPACITY));
    const start = (this.#written + bytes.length - recent.length) % this.#ring.length;
    const head = Math.min(recent.length, this.#ring.length - start);
    this.#ring.set(recent.subarray(0, head), start);
    this.#ring.set(recent.subarray(head), 0);
    this.#written += bytes.length;
  }

  /**
   * Returns the stored bytes, oldest first, from the start of a line, and frees the memory. Nothing can be added
   * afterwards.
   */
  take(): Uint8Array {
    const bytes = this.#unroll();
    this.#ring = new Uint8Array(0);
    return this.isTruncated ? bytes.subarray(bytes.indexOf(LINE_FEED) + 1) : bytes;
  }

  #unroll(): Uint8Array {
    const length = Math.min(this.#written, this.#ring.length);
    const start = this.#written <= this.#ring.length ? 0 : this.#written % this.#ring.length;
    const bytes = new Uint8Array(length);
    bytes.set(this.#ring.subarray(start, Math.min(this.#ring.length, start + length)));
    if (start > 0) bytes.set(this.#ring.subarray(0, start), this.#ring.length - start);
    return bytes;
  }

  /** Doubles the buffer up to its limit, so a short run does not use as much memory as a long one. */
  #grow(needed: number): void {
    if (this.#ring.length === CAPACITY || needed <= this.#ring.length) return;
    let size = Math.max(INITIAL_SIZE, this.#ring.length);
    while (size < needed && size < CAPACITY) size *= 2;
    const grown = new Uint8Array(size);
    grown.set(this.#ring.subarray(0, this.#written));
    this.#ring = grown;
  }
}
