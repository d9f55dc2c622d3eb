import type { RaspEvent, RawRef } from '../../../src/events/index.js';
import { type ByteSpan, type RefIndex, getStreamKey, findFirstAbove, createRefIndex } from './byte-ranges.js';
import { findFirstIndex, getErrorMessage, setLatest } from '../../../src/base/index.js';

/** The rows in the raw bytes pane: ranges of captured bytes in event order, without the bytes. */
export type RawRows = ReturnType<typeof createRawRows>;

export const ROW_BYTES = 16 * 1024;
/** The maximum number of rows, more than anyone would scroll through. */
const MAX_ROWS = 500_000;

interface Stream {
  readonly name: StreamName;
  end: number;
  /** The stream's rows and the start of each, both ascending. */
  readonly rows: number[];
  readonly starts: number[];
}

export function createRawRows() {
  // Parallel arrays of numbers: one object per row would take four times as much memory.
  const rowStreams: Stream[] = [];
  const from: number[] = [];
  const to: number[] = [];
  const times: number[] = [];
  /** The greatest time so far, for {@link RawRows.count}. */
  const maxTimes: number[] = [];
  const streams = new Map<string, Stream>();

  function findStream({ attempt_number, stream }: Stream['name']): Stream {
    const key = getStreamKey({ attempt_number, stream });
    const knownStream = streams.get(key);
    if (knownStream !== undefined) return knownStream;
    const created: Stream = { name: { attempt_number, stream }, end: 0, rows: [], starts: [] };
    streams.set(key, created);
    return created;
  }
  function extend(stream: Stream, end: number, at: number): void {
    while (stream.end < end && from.length < MAX_ROWS) {
      const next = Math.min(end, stream.end + ROW_BYTES);
      stream.rows.push(from.length);
      stream.starts.push(stream.end);
      rowStreams.push(stream);
      from.push(stream.end);
      to.push(next);
      times.push(at);
      maxTimes.push(Math.max(maxTimes.at(-1) ?? 0, Number.isNaN(at) ? 0 : at));
      stream.end = next;
    }
  }

  return {
    /** Counts the rows up to a time; null counts all. */
    count: (time: number | null = null) => (time === null ? from.length : findFirstAbove(maxTimes, time)),
    /** Returns a row: a frame with the time of its first event, or bytes without an event and time. */
    row(index: number) {
      const at = times[index] ?? Number.NaN;
      const stream = rowStreams[index];
      const byte_to = to[index] ?? 0;
      return {
        ...(stream?.name ?? ({ attempt_number: 1, stream: 'stdout' } as const)),
        byte_from: from[index] ?? 0,
        byte_to,
        at: Number.isNaN(at) ? null : at,
        /** Whether it is the last known row of its stream. */
        isLast: stream?.end === byte_to,
      };
    },
    addEvent({ raw_ref: ref }: RaspEvent, at: number) {
      if (ref === null) return;
      const stream = findStream(ref);
      if (ref.byte_to <= stream.end) return;
      extend(stream, ref.byte_from, Number.NaN);
      extend(stream, ref.byte_to, at);
    },
    /** Sets a stream's size, so bytes without an event are shown too. */
    setSize(name: StreamName, size: number) {
      extend(findStream(name), size, Number.NaN);
    },
    find(span: ByteSpan) {
      const stream = streams.get(getStreamKey(span));
      if (stream === undefined || span.byte_from >= stream.end) return null;
      return stream.rows[findFirstAbove(stream.starts, span.byte_from) - 1] ?? null;
    },
  };
}

type StreamName = Pick<RawRef, 'attempt_number' | 'stream'>;
type CapturedFile = Readonly<{ name: string; size: number }>;

export function readStreamSizes(
  files: readonly CapturedFile[],
): readonly Readonly<{ name: StreamName; size: number }>[] {
  return files.flatMap(({ name, size }) => {
    const [, file, attempt] = /^(stdout|stderr|pty-output)\.(\d{1,9})\.log$/.exec(name) ?? [];
    if (file === undefined) return [];
    const stream = file === 'pty-output' ? 'pty' : file === 'stderr' ? 'stderr' : 'stdout';
    return [{ name: { attempt_number: Number(attempt), stream }, size }];
  });
}

/** Finds the stderr file of the last attempt that wrote to it; null if no attempt did. */
export function findLastStderr(files: readonly CapturedFile[]): CapturedFile | null {
  const readAttempt = ({ name }: CapturedFile): number => Number(name.split('.')[1]);
  const stderrFiles = files.filter(({ name, size }) => /^stderr\.\d{1,9}\.log$/.test(name) && size > 0);
  return stderrFiles.toSorted((one, other) => readAttempt(other) - readAttempt(one))[0] ?? null;
}

export interface EventList {
  readonly events: readonly RaspEvent[];
  /** The time of each event, in milliseconds, never decreasing. */
  readonly times: readonly number[];
  readonly refs: RefIndex;
  /** Counts the events up to a time; null counts all. */
  readonly count: (time: number | null) => number;
  readonly append: (event: RaspEvent) => number;
  readonly find: (attempt: number, seq: number) => number | null;
}

export function createEventList(): EventList {
  const events: RaspEvent[] = [];
  const times: number[] = [];
  const refs = createRefIndex();
  return {
    events,
    times,
    refs,
    count: (time) => (time === null ? events.length : findFirstAbove(times, time)),
    append(event) {
      const time = Math.max(times.at(-1) ?? 0, Date.parse(event.ts));
      refs.add(event.raw_ref, events.length);
      events.push(event);
      times.push(time);
      return time;
    },
    find(attempt, seq) {
      const index = findFirstIndex(events, (event) =>
        event.attempt_number === attempt ? event.seq >= seq : event.attempt_number > attempt,
      );
      const event = events[index];
      return event?.attempt_number === attempt && event.seq === seq ? index : null;
    },
  };
}

/** A row's text: loaded, loading, beyond the end of the file, or unreadable. */
export type RawText =
  | { readonly state: 'loaded'; readonly text: string }
  | { readonly state: 'loading' | 'truncated' | 'unreadable' };

export const BLOCK_BYTES = 64 * 1024;
const MAX_BLOCKS = 64;
/** A browser opens at most six connections per server across all tabs, and up to four of them are event streams. */
const MAX_CONCURRENT = 2;
/** The maximum number of pending requests: a user who scrolls past a thousand blocks needs the last ones. */
const MAX_WAITING = 32;
type Block = Readonly<{ bytes: Uint8Array; isTruncated: boolean }>;

export function createRawBlocks(read: (span: ByteSpan) => Promise<Uint8Array>, onChange: () => void) {
  /** The most recently used blocks, the latest at the end. */
  const blocks = new Map<string, Block>();
  const requested = new Map<string, ByteSpan>();
  const reading = new Set<string>();
  /** Why a stream cannot be read; its other blocks are not requested either. */
  const problems = new Map<string, string>();

  function requestBlock(key: string, span: ByteSpan): void {
    if (reading.has(key)) return;
    setLatest(requested, MAX_WAITING, key, span);
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
      const isTruncated = previousBlock !== undefined && bytes.length <= previousBlock.bytes.length;
      setLatest(blocks, MAX_BLOCKS, key, { bytes, isTruncated });
    } catch (error) {
      const stream = getStreamKey(span);
      problems.set(stream, getErrorMessage(error));
      for (const [otherKey, other] of requested) if (getStreamKey(other) === stream) requested.delete(otherKey);
    }
    reading.delete(key);
    readNext();
    onChange();
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
      setLatest(blocks, MAX_BLOCKS, key, block);
      const from = Math.max(0, byte_from - begin);
      bytes.set(block.bytes.subarray(from, needed), begin + from - byte_from);
    }
    return isComplete ? bytes : { state: 'loading' };
  }

  return {
    /** Returns the text of the first `maxBytes` bytes of a span; missing bytes are fetched, then `onChange` is called. */
    text({ isLast, ...span }: ByteSpan & { readonly isLast: boolean }, maxBytes = Infinity): RawText {
      const before = Math.min(BYTES_BEFORE, span.byte_from);
      const byte_to = Math.min(span.byte_to, span.byte_from + maxBytes);
      const { attempt_number, stream } = span;
      const bytes = gather({ attempt_number, stream, byte_from: span.byte_from - before, byte_to });
      if (!(bytes instanceof Uint8Array)) return bytes;
      const isEnd = isLast && byte_to === span.byte_to;
      return { state: 'loaded', text: decodeSpan(bytes, before, isEnd) };
    },
    problems: () => [...new Set(problems.values())],
    retry: (): void => {
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

/** Decodes a span that starts after `before` bytes. A character that crosses its end belongs to the next span, if any. */
export function decodeSpan(bytes: Uint8Array, before: number, isEnd: boolean): string {
  const from = findCharacterStart(bytes, before);
  const to = isEnd ? bytes.length : findCharacterStart(bytes, bytes.length);
  return decoder.decode(bytes.subarray(from, Math.max(from, to)));
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
