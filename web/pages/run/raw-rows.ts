import type { RaspEvent, RawRef } from '../../../src/events/index.js';
import type { ByteSpan, RefIndex } from './byte-ranges.js';
import { getStreamKey, findFirstAbove, createRefIndex, findFirst } from './byte-ranges.js';

/** A range of captured bytes: one frame, or bytes without an event. */
export interface RawRow extends ByteSpan {
  /** The time of the frame's first event; null for bytes without an event. */
  readonly at: number | null;
  /** Whether it is the last known row of its stream. */
  readonly isLast: boolean;
}

/** The rows in the raw bytes pane: ranges of captured bytes in event order, without the bytes. */
export interface RawRows {
  readonly count: () => number;
  readonly row: (index: number) => RawRow;
  readonly addEvent: (event: RaspEvent, at: number) => void;
  /** Sets a stream's size, so bytes without an event are shown too. */
  readonly setSize: (stream: StreamName, size: number) => void;
  readonly find: (span: ByteSpan) => number | null;
  readonly countAt: (time: number) => number;
}

/** The maximum number of bytes per row; longer frames are split. */
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

/** Creates an empty list of rows. */
export function createRawRows(): RawRows {
  // Parallel arrays of numbers: one object per row would take four times as much memory.
  const rowStreams: Stream[] = [];
  const from: number[] = [];
  const to: number[] = [];
  const times: number[] = [];
  /** The greatest time so far, for {@link RawRows.countAt}. */
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
    addEvent({ raw_ref: ref }, at) {
      if (ref === null) return;
      const stream = findStream(ref);
      if (ref.byte_to <= stream.end) return;
      extend(stream, ref.byte_from, Number.NaN);
      extend(stream, ref.byte_to, at);
    },
    setSize(name, size) {
      extend(findStream(name), size, Number.NaN);
    },
    find(span) {
      const stream = streams.get(getStreamKey(span));
      if (stream === undefined || span.byte_from >= stream.end) return null;
      return stream.rows[findFirstAbove(stream.starts, span.byte_from) - 1] ?? null;
    },
    countAt: (time) => findFirstAbove(maxTimes, time),
  };
}

type StreamName = Pick<RawRef, 'attempt_number' | 'stream'>;
type CapturedFile = Readonly<{ name: string; size: number }>;

/** Reads the sizes of a run's captured streams from its file list. */
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

/** A run's RASP events so far. */
export interface EventList {
  readonly events: readonly RaspEvent[];
  /** The time of each event, in milliseconds, never decreasing. */
  readonly times: readonly number[];
  readonly refs: RefIndex;
  readonly append: (event: RaspEvent) => number;
  readonly find: (attempt: number, seq: number) => number | null;
}

/** Creates an empty list. */
export function createEventList(): EventList {
  const events: RaspEvent[] = [];
  const times: number[] = [];
  const refs = createRefIndex();
  return {
    events,
    times,
    refs,
    append(event) {
      const time = Math.max(times.at(-1) ?? 0, Date.parse(event.ts));
      refs.add(event.raw_ref, events.length);
      events.push(event);
      times.push(time);
      return time;
    },
    find(attempt, seq) {
      const index = findFirst(events.length, (at) => {
        const event = events[at];
        if (event === undefined || event.attempt_number !== attempt) return (event?.attempt_number ?? 0) > attempt;
        return event.seq >= seq;
      });
      const event = events[index];
      return event?.attempt_number === attempt && event.seq === seq ? index : null;
    },
  };
}
