import type { FcmpEvent } from '../../../src/events/index.js';
import { createRefIndex } from './ref-index.js';
import type { RefIndex } from './ref-index.js';
import { findFirstAbove, findFirst } from './sorted-search.js';

/**
 * One item of a conversation, such as a message, no matter how many chunks it arrived in. It refers to its events by index; its
 * text is read from them when it is drawn.
 */
export interface Item {
  /** The type of its first event. */
  readonly type: FcmpEvent['type'];
  readonly events: number[];
}

/** The part of a conversation that has arrived. It only grows, and nothing in it is stored twice. */
export interface Conversation {
  readonly events: readonly FcmpEvent[];
  /** The time of each event, in milliseconds; never decreasing, even if a clock was set back. */
  readonly times: readonly number[];
  readonly items: readonly Item[];
  /** The item of each event. */
  readonly itemIndexes: readonly number[];
  readonly refs: RefIndex;
  readonly append: (event: FcmpEvent) => void;
  /** Returns how many items the first `eventCount` events have. */
  readonly itemsAt: (eventCount: number) => number;
  /** Finds the index of the event with a sequence number; null if it has not arrived. */
  readonly find: (seq: number) => number | null;
}

/** The maximum number of lines in one item of output that is not part of the agent's protocol. */
const MAX_RAW_LINES = 50;

/** Creates an empty conversation. */
export function createConversation(): Conversation {
  const events: FcmpEvent[] = [];
  const times: number[] = [];
  const items: Item[] = [];
  const itemIndexes: number[] = [];
  const firstEvents: number[] = [];
  const open = new Map<string, number>();
  const refs = createRefIndex();

  /** Finds the item that an event continues; undefined if it starts a new one. */
  function findItem({ type }: FcmpEvent, key: string | null): number | undefined {
    if (key !== null) return open.get(key);
    const last = items.at(-1);
    const isContinued = isRaw(type) && last?.type === type && last.events.length < MAX_RAW_LINES;
    return isContinued ? items.length - 1 : undefined;
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
    itemsAt: (eventCount) => findFirstAbove(firstEvents, eventCount - 1),
    find(seq) {
      const index = findFirst(events.length, (at) => (events[at]?.seq ?? 0) >= seq);
      return events[index]?.seq === seq ? index : null;
    },
  };
}

function isRaw(type: FcmpEvent['type']): boolean {
  return type === 'raw.stdout' || type === 'raw.stderr';
}

/** Returns the key that all events of an item share; null for raw lines, and for an event that forms an item alone. */
function getKey(event: FcmpEvent): string | null {
  const { attempt } = event.meta;
  if (event.type === 'assistant.tool_call') return `tool ${attempt} ${event.data.tool_call_id}`;
  if (event.type === 'assistant.message.delta' || event.type === 'assistant.message.final') {
    return `message ${attempt} ${event.data.message_id}`;
  }
  if (event.type !== 'assistant.reasoning' || event.data.reasoning_id === undefined) return null;
  return `reasoning ${attempt} ${event.data.reasoning_id}`;
}
