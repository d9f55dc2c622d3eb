import type { RawRef } from '../../../src/events/index.js';
import { findFirstAbove } from './sorted-search.js';

/** A byte range in one stream of one attempt; the end is exclusive. */
export type ByteSpan = Pick<RawRef, 'attempt_number' | 'stream' | 'byte_from' | 'byte_to'>;

/** Byte ranges in multiple streams. */
export interface ByteRanges {
  /** Grouped by stream, sorted, without overlaps. */
  readonly spans: readonly ByteSpan[];
  /** Whether any of these bytes is in a span, in logarithmic time. */
  readonly overlaps: (span: ByteSpan | null) => boolean;
}

/** Returns a key for an attempt's stream. */
export function getStreamKey({ attempt_number, stream }: Pick<RawRef, 'attempt_number' | 'stream'>): string {
  return `${attempt_number}.${stream}`;
}

/**
 * Joins spans that touch or overlap.
 *
 * @example
 * joinSpans([{ …, byte_from: 0, byte_to: 5 }, { …, byte_from: 5, byte_to: 9 }]).spans // one span, 0 to 9
 */
export function joinSpans(spans: readonly ByteSpan[]): ByteRanges {
  const byStream = new Map<string, ByteSpan[]>();
  for (const span of spans) {
    const key = getStreamKey(span);
    const list = byStream.get(key);
    if (list === undefined) byStream.set(key, [span]);
    else list.push(span);
  }
  const joined: ByteSpan[] = [];
  const index = new Map<string, { readonly from: readonly number[]; readonly to: readonly number[] }>();
  for (const [key, list] of byStream) {
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
