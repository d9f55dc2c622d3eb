import { joinSpans } from './byte-ranges.js';
import type { ByteRanges, ByteSpan } from './byte-ranges.js';
import type { Conversation } from './conversation.js';
import type { EventList } from './event-list.js';
import type { Place } from './place.js';
import type { RawRows } from './raw-rows.js';

/** What the lenses show of a run. */
export interface RunLenses {
  readonly conversation: Conversation;
  readonly list: EventList;
  readonly rows: RawRows;
}

/** What a chosen place lights up in each lens, and the first row of each to look at. */
export interface Light {
  readonly place: Place;
  readonly bytes: ByteRanges;
  readonly items: ReadonlySet<number>;
  readonly item: number | null;
  readonly event: number | null;
  readonly row: number | null;
}

/** An item may be made of more events than anybody looks at. */
const MOST_SPANS = 5000;

/** Follows a place through the bytes to what else was made of them; null if it has not come yet. */
export function lightUp(lenses: RunLenses, place: Place): Light | null {
  const spans = spansOf(lenses, place);
  if (spans === null) return null;
  const { conversation, list, rows } = lenses;
  const bytes = joinSpans(spans);
  const items = new Set<number>();
  for (const span of bytes.spans) {
    for (const event of conversation.refs.overlapping(span)) items.add(conversation.itemOf[event] ?? 0);
  }
  const own = ownItem(lenses, place);
  if (own !== null) items.add(own);
  const [first] = bytes.spans;
  const event = place.lens === 'events' ? list.find(place.attempt, place.seq) : null;
  return {
    place,
    bytes,
    items,
    item: own ?? smallestOf(items),
    event: event ?? (first === undefined ? null : (list.refs.overlapping(first, 1)[0] ?? null)),
    row: first === undefined ? null : rows.find(first),
  };
}

/** The bytes behind a place; null if there is no such place yet. */
function spansOf(lenses: RunLenses, place: Place): readonly ByteSpan[] | null {
  const { conversation, list } = lenses;
  switch (place.lens) {
    case 'conversation': {
      const own = ownItem(lenses, place);
      if (own === null) return null;
      const events = conversation.items[own]?.events.slice(0, MOST_SPANS) ?? [];
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
  return index === null ? null : (conversation.itemOf[index] ?? null);
}

function smallestOf(numbers: ReadonlySet<number>): number | null {
  let smallest: number | null = null;
  for (const number of numbers) if (smallest === null || number < smallest) smallest = number;
  return smallest;
}
