const BLOCK_BYTES = 64 * 1024;

/**
 * The bytes of a line whose end has not come yet. Small pushes share blocks, so a stream that comes byte by byte
 * costs no more than one that comes whole; nothing is copied twice before {@link PendingBytes.take}.
 */
export class PendingBytes {
  #blocks: Uint8Array[] = [];
  #lastUsed = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Copies the bytes: the caller may reuse its buffer. */
  append(bytes: Uint8Array): void {
    const last = this.#blocks.at(-1);
    const room = last === undefined ? 0 : last.length - this.#lastUsed;
    const head = Math.min(room, bytes.length);
    if (last !== undefined && head > 0) {
      last.set(bytes.subarray(0, head), this.#lastUsed);
      this.#lastUsed += head;
    }
    const rest = bytes.length - head;
    if (rest > 0) {
      const block = new Uint8Array(Math.max(rest, BLOCK_BYTES));
      block.set(bytes.subarray(head));
      this.#blocks.push(block);
      this.#lastUsed = rest;
    }
    this.#length += bytes.length;
  }

  /** Hands out everything as one array and starts anew. */
  take(): Uint8Array {
    const blocks = this.#blocks;
    const whole = new Uint8Array(this.#length);
    let at = 0;
    for (const [index, block] of blocks.entries()) {
      const used = index === blocks.length - 1 ? block.subarray(0, this.#lastUsed) : block;
      whole.set(used, at);
      at += used.length;
    }
    this.#blocks = [];
    this.#lastUsed = 0;
    this.#length = 0;
    return whole;
  }
}
