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

export type WordFinder = ReturnType<typeof createWordFinder>;

/**
 * Finds many words in a single pass over bytes that arrive in chunks: the Aho-Corasick automaton, as a tree in flat
 * arrays. Each byte costs a constant number of steps on average, for any bytes. The first state is 0.
 */
export function createWordFinder(words: readonly Uint8Array[]) {
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

  /** Returns the state after the next byte. */
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
    step,
    /** The position of the first byte that can start a word, for the first state. */
    skip(bytes: Uint8Array, from: number): number {
      const last = bytes.length - 1;
      let at = from;
      while (at < last && pairs[((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)] === 0) at += 1;
      return at === last && root[bytes[at] ?? 0] === 0 ? bytes.length : at;
    },
    /** The length of the longest word. */
    longest: words.reduce((longest, { length }) => Math.max(longest, length), 0),
    /** Returns the number of trailing bytes that could be part of an incomplete word. */
    pending: (state: number) => pendingCounts[state] ?? 0,
    /** Returns the number of trailing bytes that form a complete word, or 0. */
    wordLength: (state: number) => lengths[state] ?? 0,
  };
}

/** Replaces secrets in a stream with asterisks, chunk by chunk; the length stays the same. */
export interface Masker {
  /** Returns the bytes that can be released. The last bytes are held back while they could be part of a secret. */
  push(bytes: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

const ASTERISK = 0x2a;
const EMPTY = new Uint8Array();

/** Holds the end of a stream, which could still be part of a secret. Copies nothing that is not masked or held back. */
export function createHeldBytes() {
  let heldBytes: Uint8Array = EMPTY;
  /** The position of the first held byte. */
  let offset = 0;
  /** Whether the bytes are a copy that may be changed. */
  let isCopy = false;
  return {
    add(bytes: Uint8Array): void {
      isCopy = heldBytes.length > 0;
      heldBytes = isCopy ? Buffer.concat([heldBytes, bytes]) : bytes;
    },
    /** Masks the still held bytes between two positions. */
    mask(from: number, to: number): void {
      if (to <= offset) return;
      if (!isCopy) heldBytes = new Uint8Array(heldBytes);
      isCopy = true;
      heldBytes.fill(ASTERISK, Math.max(0, from - offset), to - offset);
    },
    /** Releases all bytes before this position. */
    release(to: number): Uint8Array {
      const released = heldBytes.subarray(0, to - offset);
      // Copied, so a few held bytes do not keep an entire chunk in memory.
      heldBytes = to - offset === heldBytes.length ? EMPTY : new Uint8Array(heldBytes.subarray(to - offset));
      isCopy = true;
      offset = to;
      return released;
    },
  };
}

/** Shorter words are not matched across line ends, because they would match by chance. */
export const MIN_WRAPPED_BYTES = 16;
/** The shortest possible start of a secret that is held back; shorter ones would often delay lines for readers. */
const MIN_HELD_BYTES = 8;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const TAB = 0x09;
const SPACE = 0x20;
const BACKSLASH = 0x5c;
const LETTER_N = 0x6e;
const LETTER_R = 0x72;

/**
 * Masks words wrapped over multiple lines. It reads the unwrapped text: the stream without its line ends, the
 * indentation after them, and escaped line ends in JSON (`\n`, `\\n`). Line ends themselves are not masked, because
 * they separate records.
 */
export function createWrappedMasker(finder: WordFinder): Masker {
  const heldBytes = createHeldBytes();
  /** The positions in the stream of the last bytes of the unwrapped text, in a ring. */
  const positions = new Float64Array(finder.longest);
  let state = 0;
  let position = 0;
  /** The length of the unwrapped text. */
  let count = 0;
  /** The last masked range, in the unwrapped text: overlapping words must not mask the same bytes again and again. */
  let maskedFrom = 0;
  let maskedTo = 0;
  /** Backslashes that could start an escaped line end. */
  let backslashes = 0;
  let isAfterLineEnd = false;

  /** Converts one of the last positions in the unwrapped text to a position in the stream. */
  function locate(at: number): number {
    return positions[at % positions.length] ?? 0;
  }

  /** Masks the last bytes of the unwrapped text. */
  function mask(length: number): void {
    const from = count - length;
    for (let at = from; at < count; at += 1)
      if (at < maskedFrom || at >= maskedTo) heldBytes.mask(locate(at), locate(at) + 1);
    maskedFrom = from > maskedTo ? from : Math.min(from, maskedFrom);
    maskedTo = count;
  }

  function addByte(byte: number, at: number): void {
    state = finder.step(state, byte);
    positions[count % positions.length] = at;
    count += 1;
    isAfterLineEnd = false;
    const wordLength = finder.wordLength(state);
    const isWrapped = wordLength > 0 && locate(count - wordLength) !== at + 1 - wordLength;
    if (isWrapped) mask(wordLength);
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
