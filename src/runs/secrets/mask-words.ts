import { createHeldBytes } from './masker.js';
import type { Masker } from './masker.js';
import { SluiceError } from '../../base/index.js';

/** Masks every word found by the finder, including overlapping words. */
export function createWordMasker(finder: WordFinder): Masker {
  const heldBytes = createHeldBytes();
  let state = 0;
  let position = 0;
  return {
    push(bytes) {
      heldBytes.add(bytes);
      const { length } = bytes;
      for (let at = 0; at < length; at += 1) {
        if (state === 0) {
          at = finder.skip(bytes, at);
          if (at === length) break;
        }
        state = finder.step(state, bytes[at] ?? 0);
        const wordLength = finder.wordLength(state);
        if (wordLength > 0) heldBytes.mask(position + at + 1 - wordLength, position + at + 1);
      }
      position += length;
      return heldBytes.release(position - finder.pending(state));
    },
    end: () => heldBytes.release(position),
  };
}

/** Maximum total bytes of all words; each byte takes 25 bytes of memory. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Finds many words in a single pass over bytes that arrive in chunks: the Aho-Corasick automaton, as a tree in flat
 * arrays. Each byte costs a constant number of steps on average, for any bytes.
 */
export interface WordFinder {
  /** The first state, for the start of a stream. */
  readonly start: 0;
  /** Returns the state after the next byte. */
  step(state: number, byte: number): number;
  /**
   * Returns the position of the first byte at or after `from` that can start a word, or the length of `bytes`. Only for
   * the first state.
   */
  skip(bytes: Uint8Array, from: number): number;
  /** Returns the number of trailing bytes that could be part of an incomplete word. */
  pending(state: number): number;
  /** Returns the number of trailing bytes that form a complete word, or 0. */
  wordLength(state: number): number;
}

/** Builds the finder for these words. */
export function createWordFinder(words: readonly Uint8Array[]): WordFinder {
  const size = words.reduce((sum, word) => sum + word.length, 1);
  if (size > MAX_BYTES) {
    throw new SluiceError(
      'SECRETS_TOO_LARGE',
      `The secrets are too large: ${size} bytes in all encodings. The limit is ${MAX_BYTES} bytes. Pass fewer or shorter secrets.`,
    );
  }
  const root = new Int32Array(256);
  /** Pairs of bytes that start a word; this check excludes nearly every position. */
  const pairs = new Uint8Array(65_536);
  const label = new Uint8Array(size);
  const child = new Int32Array(size);
  const sibling = new Int32Array(size);
  const fail = new Int32Array(size);
  const depths = new Int32Array(size);
  const pendingCounts = new Int32Array(size);
  const lengths = new Int32Array(size);
  let states = 1;

  function findChild(state: number, byte: number): number {
    if (state === 0) return root[byte] ?? 0;
    let next = child[state] ?? 0;
    while (next !== 0 && label[next] !== byte) next = sibling[next] ?? 0;
    return next;
  }

  function step(state: number, byte: number): number {
    let from = state;
    for (;;) {
      const next = findChild(from, byte);
      if (next !== 0 || from === 0) return next;
      from = fail[from] ?? 0;
    }
  }

  function add(word: Uint8Array): void {
    let state = 0;
    for (const byte of word) {
      let next = findChild(state, byte);
      if (next === 0) {
        next = states;
        states += 1;
        label[next] = byte;
        depths[next] = (depths[state] ?? 0) + 1;
        if (state === 0) root[byte] = next;
        else {
          sibling[next] = child[state] ?? 0;
          child[state] = next;
        }
      }
      state = next;
    }
    lengths[state] = word.length;
    const [first = 0, second] = word;
    if (second === undefined) pairs.fill(1, first << 8, (first + 1) << 8);
    else pairs[(first << 8) | second] = 1;
  }

  /**
   * Sets for each state, breadth first: the state to continue with if a byte does not match, the shorter word that ends
   * there too, and the number of pending bytes.
   */
  function link(): void {
    let level = [...root].filter((state) => state !== 0);
    for (const state of level) pendingCounts[state] = child[state] === 0 ? 0 : 1;
    while (level.length > 0) {
      const deeper: number[] = [];
      for (const state of level) {
        for (let next = child[state] ?? 0; next !== 0; next = sibling[next] ?? 0) {
          fail[next] = step(fail[state] ?? 0, label[next] ?? 0);
          if (lengths[next] === 0) lengths[next] = lengths[fail[next] ?? 0] ?? 0;
          pendingCounts[next] = (child[next] === 0 ? pendingCounts[fail[next] ?? 0] : depths[next]) ?? 0;
          deeper.push(next);
        }
      }
      level = deeper;
    }
  }

  for (const word of words) if (word.length > 0) add(word);
  link();

  return {
    start: 0,
    step,
    skip(bytes, from) {
      const last = bytes.length - 1;
      let at = from;
      while (at < last && pairs[((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)] === 0) at += 1;
      return at === last && root[bytes[at] ?? 0] === 0 ? bytes.length : at;
    },
    pending: (state) => pendingCounts[state] ?? 0,
    wordLength: (state) => lengths[state] ?? 0,
  };
}
