import type { RawRef } from '../../../src/events/index.js';
import { findFirstIndex, groupBy } from '../../../src/base/index.js';

/** A byte range in one stream of one attempt; the end is exclusive. */
export type ByteSpan = Pick<RawRef, 'attempt_number' | 'stream' | 'byte_from' | 'byte_to'>;

export interface ByteRanges {
  /** Grouped by stream, sorted, without overlaps. */
  readonly spans: readonly ByteSpan[];
  /** Whether any of these bytes is in a span, in logarithmic time. */
  readonly overlaps: (span: ByteSpan | null) => boolean;
}

export function getStreamKey({ attempt_number, stream }: Pick<RawRef, 'attempt_number' | 'stream'>): string {
  return `${attempt_number}.${stream}`;
}

export function joinSpans(spans: readonly ByteSpan[]): ByteRanges {
  const joined: ByteSpan[] = [];
  const index = new Map<string, Readonly<{ from: readonly number[]; to: readonly number[] }>>();
  for (const [key, list] of groupBy(spans, getStreamKey)) {
    const spansOfStream = joinStream(list);
    joined.push(...spansOfStream);
    index.set(key, {
      from: spansOfStream.map(({ byte_from }) => byte_from),
      to: spansOfStream.map(({ byte_to }) => byte_to),
    });
  }
  return {
    spans: joined,
    overlaps(span) {
      const stream = span === null ? undefined : index.get(getStreamKey(span));
      if (span === null || stream === undefined) return false;
      const at = findFirstAbove(stream.to, span.byte_from);
      const from = stream.from[at];
      return from !== undefined && from < span.byte_to;
    },
  };
}

function joinStream(spans: readonly ByteSpan[]): readonly ByteSpan[] {
  const joined: ByteSpan[] = [];
  for (const span of [...spans].sort((a, b) => a.byte_from - b.byte_from)) {
    const last = joined.at(-1);
    if (last === undefined || span.byte_from > last.byte_to) joined.push(span);
    else if (span.byte_to > last.byte_to) joined[joined.length - 1] = { ...last, byte_to: span.byte_to };
  }
  return joined;
}

export type RefIndex = ReturnType<typeof createRefIndex>;

/** Spans of one stream, ordered by both start and end. */
type Layer = Readonly<{ from: number[]; to: number[]; indexes: number[] }>;
const DEFAULT_LIMIT = 5000;

/** Creates an index from bytes to events. Spans that overlap others, such as multi-line messages, get another layer. */
export function createRefIndex() {
  const streams = new Map<string, Layer[]>();
  return {
    add(ref: RawRef | null, index: number) {
      if (ref === null) return;
      const key = getStreamKey(ref);
      let layers = streams.get(key);
      if (layers === undefined) {
        layers = [];
        streams.set(key, layers);
      }
      if (layers.some((layer) => addTo(layer, ref, index))) return;
      layers.push({ from: [ref.byte_from], to: [ref.byte_to], indexes: [index] });
    },
    /** Returns at most `limit` events parsed from any of these bytes: single-frame events first, then longer ones. */
    overlapping(span: ByteSpan, limit = DEFAULT_LIMIT): readonly number[] {
      const matches: number[] = [];
      for (const { from, to, indexes } of streams.get(getStreamKey(span)) ?? []) {
        for (let at = findFirstAbove(to, span.byte_from); at < from.length && matches.length < limit; at += 1) {
          if ((from[at] ?? 0) >= span.byte_to) break;
          matches.push(indexes[at] ?? 0);
        }
      }
      return matches;
    },
  };
}

/** Adds a span to a layer; false if its end would be out of order there. */
function addTo({ from, to, indexes }: Layer, { byte_from, byte_to }: RawRef, index: number): boolean {
  // Nearly all spans belong at the end.
  const at = (from.at(-1) ?? 0) <= byte_from ? from.length : findFirstAbove(from, byte_from);
  if ((to[at - 1] ?? 0) > byte_to || (to[at] ?? byte_to) < byte_to) return false;
  insert(from, at, byte_from);
  insert(to, at, byte_to);
  insert(indexes, at, index);
  return true;
}

function insert(numbers: number[], at: number, value: number): void {
  if (at === numbers.length) numbers.push(value);
  else numbers.splice(at, 0, value);
}

/** Finds the first index whose number, in ascending order, is greater than `value`; otherwise the length. */
export function findFirstAbove(numbers: readonly number[], value: number): number {
  return findFirstIndex(numbers, (number) => number > value);
}
