import type { FcmpEvent } from '../../../src/events/index.js';
import { createRefIndex } from './ref-index.js';
import type { RefIndex } from './ref-index.js';
import { firstAbove, firstWhere } from './sorted-search.js';

/**
 * One entry of a conversation, such as a message, however many chunks it arrived in. It names its events by their indexes;
 * its text is read from them when it is drawn.
 */
export interface Item {
  /** That of its first event. */
  readonly type: FcmpEvent['type'];
  readonly events: number[];
}

/** A conversation as far as it has come. It only ever grows; nothing in it is kept twice. */
export interface Conversation {
  readonly events: readonly FcmpEvent[];
  /** When each event came, in milliseconds; a clock that was set back does not make them go back. */
  readonly times: readonly number[];
  readonly items: readonly Item[];
  /** The item of each event. */
  readonly itemIndexes: readonly number[];
  readonly refs: RefIndex;
  readonly append: (event: FcmpEvent) => void;
  /** How many items there were when there were this many events. */
  readonly itemsAt: (eventCount: number) => number;
  /** The index of the event with a number; null if it has not come. */
  readonly find: (seq: number) => number | null;
}

/** Lines an agent prints outside of its protocol are shown together, up to this many. */
const MAX_RAW_LINES = 50;

/** An empty conversation. */
export function createConversation(): Conversation {
  const events: FcmpEvent[] = [];
  const times: number[] = [];
  const items: Item[] = [];
  const itemIndexes: number[] = [];
  const firstEvents: number[] = [];
  const open = new Map<string, number>();
  const refs = createRefIndex();

  /** The item an event continues, if it does not start one. */
  function findItem({ type }: FcmpEvent, key: string | null): number | undefined {
    if (key !== null) return open.get(key);
    const last = items.at(-1);
    const goesOn = isRaw(type) && last?.type === type && last.events.length < MAX_RAW_LINES;
    return goesOn ? items.length - 1 : undefined;
  }

  return {
    events,
    times,
    items,
    itemIndexes,
    refs,
    append(event) {
      const index = events.length;
      const key = getKey(event);
      let item = findItem(event, key);
      if (item === undefined) {
        item = items.length;
        items.push({ type: event.type, events: [] });
        firstEvents.push(index);
        if (key !== null) open.set(key, item);
      }
      items[item]?.events.push(index);
      events.push(event);
      times.push(Math.max(times.at(-1) ?? 0, Date.parse(event.ts)));
      itemIndexes.push(item);
      refs.add(event.raw_ref, index);
    },
    itemsAt: (eventCount) => firstAbove(firstEvents, eventCount - 1),
    find(seq) {
      const index = firstWhere(events.length, (at) => (events[at]?.seq ?? 0) >= seq);
      return events[index]?.seq === seq ? index : null;
    },
  };
}

function isRaw(type: FcmpEvent['type']): boolean {
  return type === 'raw.stdout' || type === 'raw.stderr';
}

/** Returns the key that events of one item share; null for events that are items by themselves. */
function getKey(event: FcmpEvent): string | null {
  const { attempt } = event.meta;
  if (event.type === 'assistant.tool_call') return `tool ${attempt} ${event.data.tool_call_id}`;
  if (event.type === 'assistant.message.delta' || event.type === 'assistant.message.final') {
    return `message ${attempt} ${event.data.message_id}`;
  }
  if (event.type !== 'assistant.reasoning' || event.data.reasoning_id === undefined) return null;
  return `reasoning ${attempt} ${event.data.reasoning_id}`;
}
