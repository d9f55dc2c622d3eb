import type { RawRef } from '../../../src/events/index.js';
import type { ByteSpan } from './byte-ranges.js';

/** What somebody has chosen, by names that stay the same: it stands in the address. */
export type Place =
  | { readonly lens: 'conversation'; readonly seq: number }
  | { readonly lens: 'events'; readonly attempt: number; readonly seq: number }
  | ({ readonly lens: 'raw' } & ByteSpan);

/** The word of a place in an address: `c12`, `e1.17`, `b1.stdout.100-200`. */
export function writePlace(place: Place): string {
  switch (place.lens) {
    case 'conversation':
      return `c${place.seq}`;
    case 'events':
      return `e${place.attempt}.${place.seq}`;
    case 'raw':
      return `b${place.attempt_number}.${place.stream}.${place.byte_from}-${place.byte_to}`;
  }
}

/** Reads what {@link writePlace} wrote; null for what is no place. */
export function readPlace(word: string | null): Place | null {
  const [, seq] = /^c(\d{1,15})$/.exec(word ?? '') ?? [];
  if (seq !== undefined) return { lens: 'conversation', seq: Number(seq) };
  const [, attempt, eventSeq] = /^e(\d{1,9})\.(\d{1,15})$/.exec(word ?? '') ?? [];
  if (attempt !== undefined) return { lens: 'events', attempt: Number(attempt), seq: Number(eventSeq) };
  const [, number, stream, from, to] = /^b(\d{1,9})\.(\w+)\.(\d{1,15})-(\d{1,15})$/.exec(word ?? '') ?? [];
  if (number === undefined || !isStream(stream) || Number(to) <= Number(from)) return null;
  return { lens: 'raw', attempt_number: Number(number), stream, byte_from: Number(from), byte_to: Number(to) };
}

function isStream(word: string | undefined): word is RawRef['stream'] {
  return word === 'stdout' || word === 'stderr' || word === 'pty';
}
