import type { RawRef } from '../../../src/events/index.js';
import type { ByteSpan } from './byte-ranges.js';
import { streamKey } from './byte-ranges.js';
import { firstAbove } from './sorted-search.js';

/** Finds what was read from some bytes. */
export interface RefIndex {
  /** Notes that something, known by its index, was read from these bytes. */
  readonly add: (ref: RawRef | null, index: number) => void;
  /** What was read from any of these bytes, in the order of the bytes; `most` of them. */
  readonly overlapping: (span: ByteSpan, most?: number) => readonly number[];
}

/** Frames of one stream. They never overlap each other in part, so that their ends are in the order of their beginnings. */
interface StreamIndex {
  readonly from: number[];
  readonly to: number[];
  readonly indexes: number[];
}

/** Nobody reads more rows than this at once. */
const MOST_FOUND = 5000;

/** An index from bytes to events. Events come nearly in the order of their bytes, so that adding one costs nothing. */
export function createRefIndex(): RefIndex {
  const streams = new Map<string, StreamIndex>();
  return {
    add(ref, index) {
      if (ref === null) return;
      const key = streamKey(ref);
      let stream = streams.get(key);
      if (stream === undefined) {
        stream = { from: [], to: [], indexes: [] };
        streams.set(key, stream);
      }
      const at = firstAbove(stream.from, ref.byte_from, Math.max(0, backTo(stream, ref.byte_from)));
      insert(stream.from, at, ref.byte_from);
      insert(stream.to, at, ref.byte_to);
      insert(stream.indexes, at, index);
    },
    overlapping(span, most = MOST_FOUND) {
      const stream = streams.get(streamKey(span));
      if (stream === undefined) return [];
      const found: number[] = [];
      for (let at = firstAbove(stream.to, span.byte_from); at < stream.from.length && found.length < most; at += 1) {
        if ((stream.from[at] ?? 0) >= span.byte_to) break;
        found.push(stream.indexes[at] ?? 0);
      }
      return found;
    },
  };
}

/** Where to begin looking for the place of a frame: at the end, where nearly all of them belong. */
function backTo({ from }: StreamIndex, byte: number): number {
  return (from.at(-1) ?? 0) <= byte ? from.length : 0;
}

function insert(numbers: number[], at: number, value: number): void {
  if (at === numbers.length) numbers.push(value);
  else numbers.splice(at, 0, value);
}
