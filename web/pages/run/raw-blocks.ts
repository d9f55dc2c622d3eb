import { getErrorMessage } from '../../../src/base/index.js';
import { getStreamKey, type ByteSpan } from './byte-ranges.js';

/** A row's text: loaded, loading, beyond the end of the file, or unreadable. */
export type RawText =
  | { readonly state: 'loaded'; readonly text: string }
  | { readonly state: 'loading' | 'truncated' | 'unreadable' };

/** A run's bytes, fetched in blocks when they become visible; only a few blocks stay in memory. */
export interface RawBlocks {
  /** Returns the text of the first `maxBytes` bytes of a span; missing bytes are fetched, then `onChange` is called. */
  readonly text: (span: ByteSpan & { readonly isLast: boolean }, maxBytes?: number) => RawText;
  readonly problems: () => readonly string[];
  readonly retry: () => void;
}

type ReadBytes = (span: ByteSpan) => Promise<Uint8Array>;

export const BLOCK_BYTES = 64 * 1024;
const MAX_BLOCKS = 64;
/** A browser opens at most six connections per server across all tabs, and up to four of them are event streams. */
const MAX_CONCURRENT = 2;
/** The maximum number of pending requests: a user who scrolls past a thousand blocks needs the last ones. */
const MAX_WAITING = 32;
type Block = Readonly<{ bytes: Uint8Array; isTruncated: boolean }>;

/** Creates an empty cache of blocks. */
export function createRawBlocks(read: ReadBytes, onChange: () => void): RawBlocks {
  /** The most recently used blocks, the latest at the end. */
  const blocks = new Map<string, Block>();
  const requested = new Map<string, ByteSpan>();
  const reading = new Set<string>();
  /** Why a stream cannot be read; its other blocks are not requested either. */
  const problems = new Map<string, string>();

  function requestBlock(key: string, span: ByteSpan): void {
    if (reading.has(key)) return;
    requested.delete(key);
    requested.set(key, span);
    for (const oldest of requested.keys()) {
      if (requested.size <= MAX_WAITING) break;
      requested.delete(oldest);
    }
    readNext();
  }
  function readNext(): void {
    while (reading.size < MAX_CONCURRENT) {
      const last = [...requested].at(-1);
      if (last === undefined) return;
      requested.delete(last[0]);
      void readBlock(...last);
    }
  }
  async function readBlock(key: string, span: ByteSpan): Promise<void> {
    reading.add(key);
    try {
      const bytes = await read(span);
      const previousBlock = blocks.get(key);
      cacheBlock(key, {
        bytes,
        isTruncated: previousBlock !== undefined && bytes.length <= previousBlock.bytes.length,
      });
    } catch (error) {
      const stream = getStreamKey(span);
      problems.set(stream, getErrorMessage(error));
      for (const [otherKey, other] of requested) if (getStreamKey(other) === stream) requested.delete(otherKey);
    }
    reading.delete(key);
    readNext();
    onChange();
  }
  function cacheBlock(key: string, block: Block): void {
    blocks.delete(key);
    blocks.set(key, block);
    for (const oldest of blocks.keys()) {
      if (blocks.size <= MAX_BLOCKS) break;
      blocks.delete(oldest);
    }
  }

  /** Returns a span's bytes, joined from its blocks; missing blocks are requested. */
  function gather({ byte_from, byte_to, ...stream }: ByteSpan): Uint8Array | Exclude<RawText, { state: 'loaded' }> {
    const bytes = new Uint8Array(byte_to - byte_from);
    let isComplete = true;
    for (let begin = byte_from - (byte_from % BLOCK_BYTES); begin < byte_to; begin += BLOCK_BYTES) {
      const key = `${getStreamKey(stream)}.${begin}`;
      const block = blocks.get(key);
      const needed = Math.min(byte_to, begin + BLOCK_BYTES) - begin;
      // A live run's last block might have grown since it was fetched; a truncated file's last block stays short.
      if (block === undefined || block.bytes.length < needed) {
        if (block?.isTruncated === true) return { state: 'truncated' };
        if (problems.has(getStreamKey(stream))) return { state: 'unreadable' };
        requestBlock(key, { ...stream, byte_from: begin, byte_to: begin + BLOCK_BYTES });
        isComplete = false;
        continue;
      }
      cacheBlock(key, block);
      const from = Math.max(0, byte_from - begin);
      bytes.set(block.bytes.subarray(from, needed), begin + from - byte_from);
    }
    return isComplete ? bytes : { state: 'loading' };
  }

  return {
    text({ isLast, ...span }, maxBytes = Number.POSITIVE_INFINITY) {
      const before = Math.min(BYTES_BEFORE, span.byte_from);
      const byte_to = Math.min(span.byte_to, span.byte_from + maxBytes);
      const { attempt_number, stream } = span;
      const bytes = gather({ attempt_number, stream, byte_from: span.byte_from - before, byte_to });
      if (!(bytes instanceof Uint8Array)) return bytes;
      const isEnd = isLast && byte_to === span.byte_to;
      return { state: 'loaded', text: isEnd ? decodeLastSpan(bytes, before) : decodeSpan(bytes, before) };
    },
    problems: () => [...new Set(problems.values())],
    retry() {
      for (const [key, block] of blocks) if (block.isTruncated) blocks.delete(key);
      problems.clear();
      onChange();
    },
  };
}

/** Keeps a byte order mark: it is shown like any other character. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The number of bytes needed before a span to find the start of its first character. */
export const BYTES_BEFORE = 3;

/** Decodes a span that starts after `before` bytes. A character that crosses its end belongs to the next span. */
export function decodeSpan(bytes: Uint8Array, before: number): string {
  const from = findCharacterStart(bytes, before);
  const to = findCharacterStart(bytes, bytes.length);
  return decoder.decode(bytes.subarray(from, Math.max(from, to)));
}

/** Decodes the last span: a truncated character is shown as a replacement character. */
export function decodeLastSpan(bytes: Uint8Array, before: number): string {
  return decoder.decode(bytes.subarray(findCharacterStart(bytes, before)));
}

/** Returns the start of the character that a boundary at `at` would split; `at` itself if it splits none. */
function findCharacterStart(bytes: Uint8Array, at: number): number {
  for (let back = 1; back <= BYTES_BEFORE && back <= at; back += 1) {
    const byte = bytes[at - back] ?? 0;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    return countCharacterBytes(byte) > back ? at - back : at;
  }
  return at;
}

function countCharacterBytes(byte: number): number {
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc0 ? 2 : 1;
}
