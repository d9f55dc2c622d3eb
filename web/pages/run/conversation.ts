import type { FcmpEvent } from '../../../src/events/index.js';
import { createRefIndex } from './ref-index.js';
import type { RefIndex } from './ref-index.js';
import { findFirstAbove, findFirst } from './sorted-search.js';

/**
 * One conversation item, such as a message, no matter how many chunks it arrived in. It refers to its events by index;
 * its text is assembled from them when drawn.
 */
export interface Item {
  /** The type of its first event. */
  readonly type: FcmpEvent['type'];
  readonly events: number[];
}

/** The part of a conversation that has arrived. It is append-only, and nothing in it is stored twice. */
export interface Conversation {
  readonly events: readonly FcmpEvent[];
  /** The time of each event, in milliseconds; never decreasing, even if a clock was set back. */
  readonly times: readonly number[];
  readonly items: readonly Item[];
  /** The item of each event. */
  readonly itemIndexes: readonly number[];
  readonly refs: RefIndex;
  readonly append: (event: FcmpEvent) => void;
  /**
   * Returns the index of the event that closed a question or a permission request; Infinity while it is open. Any later
   * event closes a question. Only the answer or the end of the attempt closes a permission request.
   */
  readonly findClosingEvent: (question: number) => number;
  /** Whether a question or a permission request was open after the first `eventCount` events. */
  readonly hasOpenQuestion: (eventCount: number) => boolean;
  /** Returns the number of items in the first `eventCount` events. */
  readonly countItems: (eventCount: number) => number;
  /** Finds the index of the event with a sequence number; null if it has not arrived. */
  readonly find: (seq: number) => number | null;
}

/** The maximum number of lines per item of output outside the agent's protocol. */
const MAX_RAW_LINES = 50;

/** Creates an empty conversation. */
export function createConversation(): Conversation {
  const events: FcmpEvent[] = [];
  const times: number[] = [];
  const items: Item[] = [];
  const itemIndexes: number[] = [];
  const firstEvents: number[] = [];
  const open = new Map<string, number>();
  /** The closing event of each question and permission request; Infinity while it is open. */
  const closings = new Map<number, number>();
  const openQuestions = new Set<number>();
  const refs = createRefIndex();

  /** Finds the item that an event continues; undefined if it starts a new one. */
  function findItem({ type }: FcmpEvent, key: string | null): number | undefined {
    if (key !== null) return open.get(key);
    const last = items.at(-1);
    const isContinued = isRaw(type) && last?.type === type && last.events.length < MAX_RAW_LINES;
    return isContinued ? items.length - 1 : undefined;
  }

  function updateQuestions(event: FcmpEvent, index: number): void {
    for (const question of openQuestions) {
      if (!closesQuestion(event, events[question])) continue;
      closings.set(question, index);
      openQuestions.delete(question);
    }
    if (event.type !== 'user.input.required' && event.type !== 'permission.required') return;
    closings.set(index, Number.POSITIVE_INFINITY);
    openQuestions.add(index);
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
      updateQuestions(event, index);
      events.push(event);
      times.push(Math.max(times.at(-1) ?? 0, Date.parse(event.ts)));
      itemIndexes.push(item);
      refs.add(event.raw_ref, index);
    },
    findClosingEvent: (question) => closings.get(question) ?? Number.POSITIVE_INFINITY,
    hasOpenQuestion: (eventCount) =>
      [...closings].some(([question, closing]) => question < eventCount && closing >= eventCount),
    countItems: (eventCount) => findFirstAbove(firstEvents, eventCount - 1),
    find(seq) {
      const index = findFirst(events.length, (at) => (events[at]?.seq ?? 0) >= seq);
      return events[index]?.seq === seq ? index : null;
    },
  };
}

/** Whether an event closes an open question or permission request. */
function closesQuestion(event: FcmpEvent, question: FcmpEvent | undefined): boolean {
  if (question?.type !== 'permission.required' || question.meta.attempt !== event.meta.attempt) return true;
  if (event.type === 'conversation.completed' || event.type === 'conversation.failed') return true;
  return event.type === 'permission.replied' && event.data.interaction_id === question.data.interaction_id;
}

function isRaw(type: FcmpEvent['type']): boolean {
  return type === 'raw.stdout' || type === 'raw.stderr';
}

/** Returns the key shared by all events of an item; null for raw lines and for single-event items. */
function getKey(event: FcmpEvent): string | null {
  const { attempt } = event.meta;
  if (event.type === 'assistant.tool_call') return `tool ${attempt} ${event.data.tool_call_id}`;
  if (event.type === 'assistant.message.delta' || event.type === 'assistant.message.final') {
    return `message ${attempt} ${event.data.message_id}`;
  }
  if (event.type !== 'assistant.reasoning' || event.data.reasoning_id === undefined) return null;
  return `reasoning ${attempt} ${event.data.reasoning_id}`;
}
