/** Replaces secrets in a stream with asterisks, chunk by chunk; the length stays the same. */
export interface Masker {
  /** Returns the bytes that can be released. The last bytes are held back while they could be part of a secret. */
  push(bytes: Uint8Array): Uint8Array;
  /** Returns the remaining bytes. */
  end(): Uint8Array;
}

const ASTERISK = 0x2a;
const EMPTY = new Uint8Array();

/** The end of a stream, whose bytes could still be part of a secret. Positions count from the start of the stream. */
export interface HeldBytes {
  add(bytes: Uint8Array): void;
  /** Masks the bytes between two positions; `to` must not decrease between calls. */
  mask(from: number, to: number): void;
  /** Masks the still held bytes between two positions; can be called in any order. */
  maskRange(from: number, to: number): void;
  /** Releases all bytes before this position. */
  release(to: number): Uint8Array;
}

/** Creates a buffer for held bytes. Chunks are not copied while nothing is masked or held back. */
export function createHeldBytes(): HeldBytes {
  let heldBytes: Uint8Array = EMPTY;
  /** The position of the first held byte. */
  let offset = 0;
  /** Whether the bytes are a copy that may be changed. */
  let isCopy = false;
  /** The last masked range: overlapping matches must not mask the same bytes again and again. */
  let maskedFrom = 0;
  let maskedTo = 0;

  function fill(from: number, to: number): void {
    if (from >= to) return;
    if (!isCopy) {
      heldBytes = new Uint8Array(heldBytes);
      isCopy = true;
    }
    heldBytes.fill(ASTERISK, from - offset, to - offset);
  }

  return {
    add(bytes) {
      isCopy = heldBytes.length > 0;
      heldBytes = isCopy ? Buffer.concat([heldBytes, bytes]) : bytes;
    },
    mask(from, to) {
      if (from > maskedTo || maskedTo === maskedFrom) {
        fill(from, to);
        maskedFrom = from;
      } else {
        fill(from, maskedFrom);
        fill(maskedTo, to);
        maskedFrom = Math.min(from, maskedFrom);
      }
      maskedTo = to;
    },
    maskRange: (from, to) => fill(Math.max(from, offset), to),
    release(to) {
      const released = heldBytes.subarray(0, to - offset);
      // Copied, so a few held bytes do not keep an entire chunk in memory.
      heldBytes = to - offset === heldBytes.length ? EMPTY : new Uint8Array(heldBytes.subarray(to - offset));
      isCopy = true;
      offset = to;
      return released;
    },
  };
}
