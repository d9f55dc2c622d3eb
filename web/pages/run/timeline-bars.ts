import type { Conversation, Item } from './conversation.js';

/** The position of an item on the time axis, in milliseconds. */
export interface TimelineBar {
  readonly from: number;
  readonly to: number;
  /** Whether it is still in progress: a running tool or an open question. */
  readonly isOpen: boolean;
}

/**
 * Measures the start and end of an item. A tool lasts from its start to its end, and a question until it is answered. A
 * message starts with the previous event, because the model has worked on it since then. The first item starts with the
 * run, so its length shows how long the agent took to start.
 */
export function measureBar(
  { events, times, findClosingEvent: findClosing }: Pick<Conversation, 'events' | 'times' | 'findClosingEvent'>,
  item: Item,
  eventCount: number,
  { start, end: now }: { readonly start: number; readonly end: number },
): TimelineBar {
  const first = item.events[0] ?? 0;
  const last = findLast(item.events, eventCount);
  const from = times[first] ?? now;
  const to = times[last] ?? from;
  const { type } = item;
  if (first === 0) return { from: Math.min(start, from), to, isOpen: false };
  if (type === 'assistant.tool_call') {
    const event = events[last];
    const isOpen = event?.type === 'assistant.tool_call' && event.data.status === 'started';
    return { from, to: isOpen ? now : to, isOpen };
  }
  if (type === 'user.input.required' || type === 'permission.required') {
    const closing = findClosing(first);
    const isOpen = closing >= eventCount;
    return { from, to: isOpen ? now : (times[closing] ?? to), isOpen };
  }
  const isModelOutput = type.startsWith('assistant.message.') || type === 'assistant.reasoning';
  if (!isModelOutput || !isSameAttempt(events, first)) return { from, to, isOpen: false };
  return { from: times[first - 1] ?? from, to, isOpen: false };
}

/** Whether the last of the first `eventCount` events started a tool, or a question was open at that time. */
export function hasOpenItem(
  { events, hasOpenQuestion }: Pick<Conversation, 'events' | 'hasOpenQuestion'>,
  eventCount: number,
): boolean {
  const event = events[eventCount - 1];
  const isToolStart = event?.type === 'assistant.tool_call' && event.data.status === 'started';
  return isToolStart || hasOpenQuestion(eventCount);
}

/** Returns the end of an axis with room for an open bar to grow: a quarter of its length, and at least five seconds. */
export function addRoom(start: number, now: number): number {
  return now + Math.max(5000, (now - start) / 4);
}

/** Finds the last event of an item among the first `eventCount`. */
function findLast(indexes: readonly number[], eventCount: number): number {
  for (let at = indexes.length - 1; at > 0; at -= 1) {
    const index = indexes[at] ?? 0;
    if (index < eventCount) return index;
  }
  return indexes[0] ?? 0;
}

function isSameAttempt(events: Conversation['events'], first: number): boolean {
  return events[first - 1]?.meta.attempt === events[first]?.meta.attempt;
}

/** An axis label. */
export interface AxisMark {
  /** From 0 to 1. */
  readonly at: number;
  readonly ms: number;
}

const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
] as const;

/** Lists at most seven labels, at round times, for an axis of this length. */
export function listMarks(lengthMs: number): readonly AxisMark[] {
  if (lengthMs <= 0) return [{ at: 0, ms: 0 }];
  const step = STEPS_MS.find((ms) => lengthMs / ms <= 6) ?? lengthMs / 6;
  return Array.from({ length: Math.floor(lengthMs / step) + 1 }, (_, index) => ({
    at: (index * step) / lengthMs,
    ms: index * step,
  }));
}
