import { createHeldBytes } from './masker.js';
import type { Masker } from './masker.js';
import type { WordFinder } from './mask-words.js';

/** Shorter words are not matched across line ends, because they would match by chance. */
export const MIN_WRAPPED_BYTES = 16;
/**
 * A possible start of a secret is held back only if it has at least this length. Otherwise lines whose last characters
 * happen to start a secret would often be delayed for live readers.
 */
const MIN_HELD_BYTES = 8;

/** Gaps are pruned first at this number, then whenever their number has doubled. */
const MIN_GAPS = 256;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const TAB = 0x09;
const SPACE = 0x20;
const BACKSLASH = 0x5c;
const LETTER_N = 0x6e;
const LETTER_R = 0x72;

/** A position preceded by bytes that are omitted from the unwrapped text. */
interface Gap {
  /** The position in the unwrapped text. */
  readonly at: number;
  /** The position of the same byte in the stream. */
  readonly position: number;
}

/**
 * Masks words wrapped over multiple lines. It reads the unwrapped text: the stream without its line ends, the
 * indentation after them, and escaped line ends in JSON (`\n`, `\\n`). Line ends themselves are not masked, because
 * they separate records.
 */
export function createWrappedMasker(finder: WordFinder): Masker {
  const heldBytes = createHeldBytes();
  let state = 0;
  let position = 0;
  /** The length of the unwrapped text. */
  let count = 0;
  let gaps: Gap[] = [];
  let maxGaps = MIN_GAPS;
  /** The last masked range, in the unwrapped text. */
  let maskedFrom = 0;
  let maskedTo = 0;
  /** Backslashes that could start an escaped line end. */
  let backslashes = 0;
  let isAfterLineEnd = false;

  /** Converts a position in the unwrapped text to a position in the stream. */
  function locate(at: number): number {
    const gap = gaps.findLast((one) => one.at <= at);
    return gap === undefined ? at : gap.position + (at - gap.at);
  }

  /**
   * Masks a word. Where words overlap, only the new parts are masked, because masking everything again would take
   * quadratic time.
   */
  function mask(from: number, to: number): void {
    if (from > maskedTo || maskedTo === maskedFrom) maskedFrom = maskedTo = from;
    maskParts(from, Math.max(from, maskedFrom));
    maskParts(maskedTo, to);
    maskedFrom = Math.min(from, maskedFrom);
    maskedTo = to;
  }

  function maskParts(from: number, to: number): void {
    let end = to;
    for (let index = gaps.length - 1; end > from; index -= 1) {
      const start = Math.max(from, gaps[index]?.at ?? from);
      if (start >= end) continue;
      const streamStart = locate(start);
      heldBytes.maskRange(streamStart, streamStart + (end - start));
      end = start;
    }
  }

  function addByte(byte: number, at: number): void {
    if (state === 0) {
      // No word has started: nothing before this byte matters any more.
      count = at;
      gaps = [];
      maskedFrom = maskedTo = count;
    } else if (locate(count) !== at) gaps.push({ at: count, position: at });
    state = finder.step(state, byte);
    count += 1;
    isAfterLineEnd = false;
    if (gaps.length > maxGaps) dropGaps();
    const wordLength = finder.wordLength(state);
    if (wordLength > 0 && (gaps.at(-1)?.at ?? 0) > count - wordLength) mask(count - wordLength, count);
  }

  /** Drops gaps before the earliest possible start of a word that is still being matched. */
  function dropGaps(): void {
    const first = gaps.findLastIndex((gap) => gap.at <= count - finder.pending(state));
    if (first > 0) gaps = gaps.slice(first);
    maxGaps = 2 * gaps.length + MIN_GAPS;
  }

  function addBackslashes(before: number): void {
    for (let index = backslashes; index > 0; index -= 1) addByte(BACKSLASH, before - index);
    backslashes = 0;
  }

  function advance(byte: number, at: number): void {
    if (byte === BACKSLASH) {
      backslashes += 1;
      return;
    }
    if (backslashes > 0 && (byte === LETTER_N || byte === LETTER_R)) {
      backslashes = 0;
      isAfterLineEnd = true;
      return;
    }
    if (backslashes > 0) addBackslashes(at);
    if (byte === LINE_FEED || byte === CARRIAGE_RETURN) isAfterLineEnd = true;
    else if (!isAfterLineEnd || (byte !== SPACE && byte !== TAB)) addByte(byte, at);
  }

  return {
    push(bytes) {
      heldBytes.add(bytes);
      for (let at = 0; at < bytes.length; at += 1) advance(bytes[at] ?? 0, position + at);
      position += bytes.length;
      const pending = finder.pending(state);
      const from = pending >= MIN_HELD_BYTES ? locate(count - pending) : position;
      return heldBytes.release(from);
    },
    end: () => heldBytes.release(position),
  };
}
