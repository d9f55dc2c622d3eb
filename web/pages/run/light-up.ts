import { joinSpans } from './byte-ranges.js';
import type { ByteRanges, ByteSpan } from './byte-ranges.js';
import type { Conversation } from './conversation.js';
import type { EventList } from './event-list.js';
import type { RawRows } from './raw-rows.js';
import { firstAbove } from './sorted-search.js';
import type { RawRef } from '../../../src/events/index.js';

/** The content of the lenses of a run. */
export interface RunLenses {
  readonly conversation: Conversation;
  readonly list: EventList;
  readonly rows: RawRows;
}

/** The rows that a selected place highlights in each lens, and the first row of each to scroll to. */
export interface Light {
  readonly place: Place;
  readonly bytes: ByteRanges;
  readonly items: ReadonlySet<number>;
  readonly item: number | null;
  readonly event: number | null;
  readonly row: number | null;
}

/** An item may consist of very many events. */
const MAX_SPANS = 5000;

/** Follows a place through the bytes to what else was made of them; null if it has not come yet. */
export function lightUp(lenses: RunLenses, place: Place): Light | null {
  const spans = findSpans(lenses, place);
  if (spans === null) return null;
  const { conversation, list, rows } = lenses;
  const bytes = joinSpans(spans);
  const items = new Set<number>();
  for (const span of bytes.spans) {
    for (const event of conversation.refs.overlapping(span)) items.add(conversation.itemIndexes[event] ?? 0);
  }
  const own = ownItem(lenses, place);
  if (own !== null) items.add(own);
  const [first] = bytes.spans;
  const event = place.lens === 'events' ? list.find(place.attempt, place.seq) : null;
  return {
    place,
    bytes,
    items,
    item: own ?? findSmallest(items),
    event: event ?? (first === undefined ? null : (list.refs.overlapping(first, 1)[0] ?? null)),
    row: first === undefined ? null : rows.find(first),
  };
}

/** The source bytes of a place; null if it has not arrived yet. */
function findSpans(lenses: RunLenses, place: Place): readonly ByteSpan[] | null {
  const { conversation, list } = lenses;
  switch (place.lens) {
    case 'conversation': {
      const own = ownItem(lenses, place);
      if (own === null) return null;
      const events = conversation.items[own]?.events.slice(0, MAX_SPANS) ?? [];
      return events.flatMap((index) => conversation.events[index]?.raw_ref ?? []);
    }
    case 'events': {
      const index = list.find(place.attempt, place.seq);
      if (index === null) return null;
      const ref = list.events[index]?.raw_ref ?? null;
      return ref === null ? [] : [ref];
    }
    case 'raw':
      return [place];
  }
}

function ownItem({ conversation }: RunLenses, place: Place): number | null {
  if (place.lens !== 'conversation') return null;
  const index = conversation.find(place.seq);
  return index === null ? null : (conversation.itemIndexes[index] ?? null);
}

function findSmallest(numbers: ReadonlySet<number>): number | null {
  let smallest: number | null = null;
  for (const number of numbers) if (smallest === null || number < smallest) smallest = number;
  return smallest;
}

/** The selection, by stable names: it is kept in the query. */
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

/** Reads what {@link writePlace} wrote; null if it is not a place. */
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

/** Counts the entries of a lens at a moment or, for null, in total. */
export function countLens(
  { conversation, list, rows }: RunLenses,
  lens: 'timeline' | 'conversation' | 'events' | 'raw',
  moment: number | null,
): number {
  switch (lens) {
    case 'timeline':
    case 'conversation':
      return moment === null ? conversation.items.length : conversation.itemsAt(firstAbove(conversation.times, moment));
    case 'events':
      return moment === null ? list.events.length : firstAbove(list.times, moment);
    case 'raw':
      return moment === null ? rows.count() : rows.countAt(moment);
  }
}
