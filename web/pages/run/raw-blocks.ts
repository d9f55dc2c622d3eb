import { getErrorMessage } from '../../../src/base/index.js';
import type { ByteSpan } from './byte-ranges.js';
import { streamKey } from './byte-ranges.js';

/** The text of a row: there, on its way, beyond the end of the file, or in a stream that cannot be read. */
export type RawText =
  | { readonly state: 'there'; readonly text: string }
  | { readonly state: 'coming' | 'cut' | 'unreadable' };

/** Bytes of a run, fetched in blocks when they become visible; few blocks are kept. */
export interface RawBlocks {
  /** The text of a span, of which at most `most` bytes are read; missing bytes are fetched, then `onChange` is called. */
  readonly text: (span: ByteSpan & { readonly isLast: boolean }, most?: number) => RawText;
  /** Why streams cannot be read, each reason once. */
  readonly problems: () => readonly string[];
  /** Forgets what went wrong, so that it is tried again. */
  readonly retry: () => void;
}

/** Reads bytes from the server; `to` may be beyond the end. */
type ReadBytes = (span: ByteSpan) => Promise<Uint8Array>;

export const BLOCK_BYTES = 64 * 1024;
const MAX_BLOCKS = 64;
/** The browser has six connections to a server, and the events need two. */
const MAX_CONCURRENT = 2;
/** A person who scrolls past a thousand blocks wants the last ones. */
const MAX_WAITING = 32;

interface Block {
  readonly bytes: Uint8Array;
  /** It was fetched again for more bytes, and there were none. */
  readonly isCut: boolean;
}

/** Nothing fetched yet. */
export function createRawBlocks(read: ReadBytes, onChange: () => void): RawBlocks {
  /** The most recently used blocks, the latest at the end. */
  const blocks = new Map<string, Block>();
  /** The blocks to fetch, the latest request at the end. */
  const requested = new Map<string, ByteSpan>();
  const reading = new Set<string>();
  /** Why a stream cannot be read. What is true of one block is true of the others: they are not asked for. */
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
      const before = blocks.get(key);
      keep(key, { bytes, isCut: before !== undefined && bytes.length <= before.bytes.length });
    } catch (error) {
      const stream = streamKey(span);
      problems.set(stream, getErrorMessage(error));
      for (const [other, waiting] of requested) if (streamKey(waiting) === stream) requested.delete(other);
    }
    reading.delete(key);
    readNext();
    onChange();
  }
  function keep(key: string, block: Block): void {
    blocks.delete(key);
    blocks.set(key, block);
    for (const oldest of blocks.keys()) {
      if (blocks.size <= MAX_BLOCKS) break;
      blocks.delete(oldest);
    }
  }

  /** The bytes of a span, put together from its blocks; missing blocks are requested. */
  function gather({ byte_from, byte_to, ...stream }: ByteSpan): Uint8Array | Exclude<RawText, { state: 'there' }> {
    const bytes = new Uint8Array(byte_to - byte_from);
    let isWhole = true;
    for (let begin = byte_from - (byte_from % BLOCK_BYTES); begin < byte_to; begin += BLOCK_BYTES) {
      const key = `${streamKey(stream)}.${begin}`;
      const block = blocks.get(key);
      const needed = Math.min(byte_to, begin + BLOCK_BYTES) - begin;
      // The last block of a live run was short when it was fetched; that of a truncated file stays short.
      if (block === undefined || block.bytes.length < needed) {
        if (block?.isCut === true) return { state: 'cut' };
        if (problems.has(streamKey(stream))) return { state: 'unreadable' };
        requestBlock(key, { ...stream, byte_from: begin, byte_to: begin + BLOCK_BYTES });
        isWhole = false;
        continue;
      }
      keep(key, block);
      const from = Math.max(0, byte_from - begin);
      bytes.set(block.bytes.subarray(from, needed), begin + from - byte_from);
    }
    return isWhole ? bytes : { state: 'coming' };
  }

  return {
    text({ isLast, ...span }, most = Number.POSITIVE_INFINITY) {
      const before = Math.min(BYTES_BEFORE, span.byte_from);
      const byte_to = Math.min(span.byte_to, span.byte_from + most);
      const { attempt_number, stream } = span;
      const bytes = gather({ attempt_number, stream, byte_from: span.byte_from - before, byte_to });
      if (!(bytes instanceof Uint8Array)) return bytes;
      const isEnd = isLast && byte_to === span.byte_to;
      return { state: 'there', text: isEnd ? decodeLastSpan(bytes, before) : decodeSpan(bytes, before) };
    },
    problems: () => [...new Set(problems.values())],
    retry() {
      for (const [key, block] of blocks) if (block.isCut) blocks.delete(key);
      problems.clear();
      onChange();
    },
  };
}

/** A byte order mark is a byte like others here: it is shown. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Bytes before a span that are needed to know where its first character begins. */
export const BYTES_BEFORE = 3;

/**
 * The text of a span of bytes, cut so that a character which lies on the edge belongs to the span that follows: the texts of
 * spans that touch are together the text of all.
 *
 * `bytes` begins `before` bytes ahead of the span (at most {@link BYTES_BEFORE} are used) and ends with it.
 */
export function decodeSpan(bytes: Uint8Array, before: number): string {
  const from = characterStart(bytes, before);
  const to = characterStart(bytes, bytes.length);
  return decoder.decode(bytes.subarray(from, Math.max(from, to)));
}

/** The text of the last span: a truncated character is shown as a replacement character. */
export function decodeLastSpan(bytes: Uint8Array, before: number): string {
  return decoder.decode(bytes.subarray(characterStart(bytes, before)));
}

/** Returns where the character begins that an edge at `at` would cut; `at` itself if it cuts none. */
function characterStart(bytes: Uint8Array, at: number): number {
  for (let back = 1; back <= BYTES_BEFORE && back <= at; back += 1) {
    const byte = bytes[at - back] ?? 0;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    return countCharacterBytes(byte) > back ? at - back : at;
  }
  return at;
}

/** Returns the length of the UTF-8 character that begins with this byte. */
function countCharacterBytes(byte: number): number {
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc0 ? 2 : 1;
}
