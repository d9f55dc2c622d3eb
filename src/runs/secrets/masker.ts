/** Replaces secrets in a stream by stars, chunk by chunk; the length stays the same. */
export interface Masker {
  /** Returns what can be released now. The last bytes are held back while they may become part of a secret. */
  push(bytes: Uint8Array): Uint8Array;
  /** The rest. */
  end(): Uint8Array;
}

const STAR = 0x2a;
const NOTHING = new Uint8Array();

/** The end of a stream whose bytes may still be part of a secret. Positions count from the stream's beginning. */
export interface HeldBytes {
  add(bytes: Uint8Array): void;
  /** Writes stars from one position to another; `to` never decreases between calls. */
  hide(from: number, to: number): void;
  /** Writes stars at these positions only, as far as they are still held. */
  hideExactly(from: number, to: number): void;
  /** Releases all bytes before this position. */
  release(to: number): Uint8Array;
}

/** Chunks pass without a copy while nothing is hidden or held back. */
export function createHeldBytes(): HeldBytes {
  let held: Uint8Array = NOTHING;
  /** The position of the first held byte. */
  let offset = 0;
  /** Whether the bytes are a copy, and may be changed. */
  let isOwn = false;
  /** The last stretch of stars: many overlapping finds must not fill the same bytes again and again. */
  let starsFrom = 0;
  let starsTo = 0;

  function fill(from: number, to: number): void {
    if (from >= to) return;
    if (!isOwn) {
      held = new Uint8Array(held);
      isOwn = true;
    }
    held.fill(STAR, from - offset, to - offset);
  }

  return {
    add(bytes) {
      isOwn = held.length > 0;
      held = isOwn ? Buffer.concat([held, bytes]) : bytes;
    },
    hide(from, to) {
      if (from > starsTo || starsTo === starsFrom) {
        fill(from, to);
        starsFrom = from;
      } else {
        fill(from, starsFrom);
        fill(starsTo, to);
        starsFrom = Math.min(from, starsFrom);
      }
      starsTo = to;
    },
    hideExactly: (from, to) => fill(Math.max(from, offset), to),
    release(to) {
      const released = held.subarray(0, to - offset);
      // Copied, so that a few held bytes do not keep a whole chunk in memory.
      held = to - offset === held.length ? NOTHING : new Uint8Array(held.subarray(to - offset));
      isOwn = true;
      offset = to;
      return released;
    },
  };
}
