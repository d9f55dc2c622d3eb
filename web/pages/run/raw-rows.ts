import type { RaspEvent, RawRef } from '../../../src/events/index.js';
import type { ByteSpan } from './byte-ranges.js';
import { streamKey } from './byte-ranges.js';
import { firstAbove } from './sorted-search.js';

/** A stretch of captured bytes: those of one frame, or some that no event was made of. */
export interface RawRow extends ByteSpan {
  /** When the first event of the frame came; null for bytes without one. */
  readonly at: number | null;
  /** It is the last known row of its stream. */
  readonly isLast: boolean;
}

/** The captured bytes of a run in the order in which they became events: rows to scroll through, without the bytes. */
export interface RawRows {
  readonly count: () => number;
  readonly row: (index: number) => RawRow;
  /** Adds the bytes of an event, and any unassigned bytes before them. */
  readonly take: (event: RaspEvent, at: number) => void;
  /** Says how long a stream is: what no event was made of is shown too. */
  readonly takeSize: (stream: Pick<RawRef, 'attempt_number' | 'stream'>, size: number) => void;
  /** The first row with one of these bytes; null if there is none. */
  readonly find: (span: ByteSpan) => number | null;
  /** How many rows there were at a moment. */
  readonly countAt: (time: number) => number;
}

/** Rows end after this many bytes: a frame of a hundred megabytes is many rows. */
export const ROW_BYTES = 16 * 1024;
/** More rows than anyone scrolls through. */
const MAX_ROWS = 500_000;

interface Stream {
  readonly name: Pick<RawRef, 'attempt_number' | 'stream'>;
  end: number;
  /** The rows of the stream and where each begins, both ascending. */
  readonly rows: number[];
  readonly begins: number[];
}

/** No rows yet. */
export function createRawRows(): RawRows {
  // Numbers side by side: an object for each row would cost four times as much.
  const rowStreams: Stream[] = [];
  const from: number[] = [];
  const to: number[] = [];
  const times: number[] = [];
  /** The greatest time so far, for {@link RawRows.countAt}. */
  const reached: number[] = [];
  const streams = new Map<string, Stream>();

  function streamFor({ attempt_number, stream }: Stream['name']): Stream {
    const key = streamKey({ attempt_number, stream });
    const known = streams.get(key);
    if (known !== undefined) return known;
    const created: Stream = { name: { attempt_number, stream }, end: 0, rows: [], begins: [] };
    streams.set(key, created);
    return created;
  }
  /** Adds rows up to a byte. */
  function extend(stream: Stream, end: number, at: number): void {
    while (stream.end < end && from.length < MAX_ROWS) {
      const next = Math.min(end, stream.end + ROW_BYTES);
      stream.rows.push(from.length);
      stream.begins.push(stream.end);
      rowStreams.push(stream);
      from.push(stream.end);
      to.push(next);
      times.push(at);
      reached.push(Math.max(reached.at(-1) ?? 0, Number.isNaN(at) ? 0 : at));
      stream.end = next;
    }
  }

  return {
    count: () => from.length,
    row(index) {
      const at = times[index] ?? Number.NaN;
      const stream = rowStreams[index];
      const byte_to = to[index] ?? 0;
      return {
        ...(stream?.name ?? { attempt_number: 1, stream: 'stdout' }),
        byte_from: from[index] ?? 0,
        byte_to,
        at: Number.isNaN(at) ? null : at,
        isLast: stream?.end === byte_to,
      };
    },
    take({ raw_ref: ref }, at) {
      if (ref === null) return;
      const stream = streamFor(ref);
      if (ref.byte_to <= stream.end) return;
      extend(stream, ref.byte_from, Number.NaN);
      extend(stream, ref.byte_to, at);
    },
    takeSize(name, size) {
      extend(streamFor(name), size, Number.NaN);
    },
    find(span) {
      const stream = streams.get(streamKey(span));
      if (stream === undefined || span.byte_from >= stream.end) return null;
      return stream.rows[firstAbove(stream.begins, span.byte_from) - 1] ?? null;
    },
    countAt: (time) => firstAbove(reached, time),
  };
}

/** Returns how long the captured streams of a run are, by the names of their files. */
export function streamSizes(
  files: readonly { readonly name: string; readonly size: number }[],
): readonly { readonly name: Pick<RawRef, 'attempt_number' | 'stream'>; readonly size: number }[] {
  return files.flatMap(({ name, size }) => {
    const [, file, attempt] = /^(stdout|stderr|pty-output)\.(\d{1,9})\.log$/.exec(name) ?? [];
    if (file === undefined) return [];
    const stream = file === 'pty-output' ? 'pty' : file === 'stderr' ? 'stderr' : 'stdout';
    return [{ name: { attempt_number: Number(attempt), stream }, size }];
  });
}

/** The stderr of the last attempt that wrote any; null if none did. */
export function findLastStderr(
  files: readonly { readonly name: string; readonly size: number }[],
): { readonly name: string; readonly size: number } | null {
  const written = files.filter(({ name, size }) => /^stderr\.\d{1,9}\.log$/.test(name) && size > 0);
  return written.toSorted((one, other) => readAttempt(other.name) - readAttempt(one.name))[0] ?? null;
}

function readAttempt(name: string): number {
  return Number(name.split('.')[1]);
}
