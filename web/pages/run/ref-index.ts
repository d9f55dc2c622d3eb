import type { RawRef } from '../../../src/events/index.js';
import type { ByteSpan } from './byte-ranges.js';
import { streamKey } from './byte-ranges.js';
import { firstAbove } from './sorted-search.js';

/** Finds what was read from some bytes. */
export interface RefIndex {
  /** Notes that something, known by its index, was read from these bytes. */
  readonly add: (ref: RawRef | null, index: number) => void;
  /** Returns at most `most` events that were read from any of these bytes: frame by frame, then those that span several frames. */
  readonly overlapping: (span: ByteSpan, most?: number) => readonly number[];
}

/** Spans of one stream whose ends are in the order of their beginnings, as those of frames are. */
interface Layer {
  readonly from: number[];
  readonly to: number[];
  readonly indexes: number[];
}

/** More rows than anyone reads at once. */
const MAX_FOUND = 5000;

/**
 * An index from bytes to events. Events come nearly in the order of their bytes, so that adding one costs nothing; a message
 * of many lines spans theirs, and goes into a layer above them.
 */
export function createRefIndex(): RefIndex {
  const streams = new Map<string, Layer[]>();
  return {
    add(ref, index) {
      if (ref === null) return;
      const key = streamKey(ref);
      let layers = streams.get(key);
      if (layers === undefined) {
        layers = [];
        streams.set(key, layers);
      }
      if (layers.some((layer) => addTo(layer, ref, index))) return;
      layers.push({ from: [ref.byte_from], to: [ref.byte_to], indexes: [index] });
    },
    overlapping(span, most = MAX_FOUND) {
      const found: number[] = [];
      for (const { from, to, indexes } of streams.get(streamKey(span)) ?? []) {
        for (let at = firstAbove(to, span.byte_from); at < from.length && found.length < most; at += 1) {
          if ((from[at] ?? 0) >= span.byte_to) break;
          found.push(indexes[at] ?? 0);
        }
      }
      return found;
    },
  };
}

/** Adds a span to a layer; false if its end would be out of order there. */
function addTo({ from, to, indexes }: Layer, { byte_from, byte_to }: RawRef, index: number): boolean {
  // Nearly all belong at the end.
  const at = (from.at(-1) ?? 0) <= byte_from ? from.length : firstAbove(from, byte_from);
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
