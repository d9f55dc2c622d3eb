import type { RawRef } from '../../../src/events/index.js';
import type { ByteSpan } from './byte-ranges.js';
import { getStreamKey } from './byte-ranges.js';
import { findFirstAbove } from './sorted-search.js';

/** Finds the events parsed from a byte range. */
export interface RefIndex {
  /** Records that the event with this index was parsed from these bytes. */
  readonly add: (ref: RawRef | null, index: number) => void;
  /** Returns at most `limit` events parsed from any of these bytes: single-frame events first, then longer ones. */
  readonly overlapping: (span: ByteSpan, limit?: number) => readonly number[];
}

/** Spans of one stream, ordered by both start and end. */
interface Layer {
  readonly from: number[];
  readonly to: number[];
  readonly indexes: number[];
}

/** The default limit, more than anyone would read. */
const DEFAULT_LIMIT = 5000;

/**
 * Creates an index from bytes to events. Events arrive nearly in byte order, so adding one is cheap. A multi-line
 * message overlaps the spans of its lines, so it is stored in another layer.
 */
export function createRefIndex(): RefIndex {
  const streams = new Map<string, Layer[]>();
  return {
    add(ref, index) {
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
    overlapping(span, limit = DEFAULT_LIMIT) {
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
