import type { RawRef } from '../../../src/events/index.js';
import { firstAbove } from './sorted-search.js';

/** Bytes of one stream of one attempt, the end not included. */
export type ByteSpan = Pick<RawRef, 'attempt_number' | 'stream' | 'byte_from' | 'byte_to'>;

/** Bytes of several streams, in which one can look up quickly whether some are among them. */
export interface ByteRanges {
  /** Sorted and apart from each other, by stream. */
  readonly spans: readonly ByteSpan[];
  readonly overlaps: (span: ByteSpan | null) => boolean;
}

/** The name of a stream of an attempt, as a key. */
export function streamKey({ attempt_number, stream }: Pick<RawRef, 'attempt_number' | 'stream'>): string {
  return `${attempt_number}.${stream}`;
}

/**
 * Puts spans together: those that touch become one.
 *
 * @example
 * joinSpans([{ …, byte_from: 0, byte_to: 5 }, { …, byte_from: 5, byte_to: 9 }]).spans // one span, 0 to 9
 */
export function joinSpans(spans: readonly ByteSpan[]): ByteRanges {
  const byStream = new Map<string, ByteSpan[]>();
  for (const span of spans) {
    const key = streamKey(span);
    const list = byStream.get(key);
    if (list === undefined) byStream.set(key, [span]);
    else list.push(span);
  }
  const joined: ByteSpan[] = [];
  const index = new Map<string, { readonly from: readonly number[]; readonly to: readonly number[] }>();
  for (const [key, list] of byStream) {
    const own = joinStream(list);
    joined.push(...own);
    index.set(key, { from: own.map(({ byte_from }) => byte_from), to: own.map(({ byte_to }) => byte_to) });
  }
  return {
    spans: joined,
    overlaps(span) {
      const stream = span === null ? undefined : index.get(streamKey(span));
      if (span === null || stream === undefined) return false;
      const at = firstAbove(stream.to, span.byte_from);
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
