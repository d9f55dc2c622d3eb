import type { FcmpEvent } from '../../../src/events/index.js';
import { createRefIndex, findFirstAbove, type RefIndex } from './byte-ranges.js';
import { findFirstIndex } from '../../../src/base/index.js';
import { t } from './texts.js';

/** A conversation item, such as a message in many chunks. Its text is assembled from its events when drawn. */
export type Item = Readonly<{ type: FcmpEvent['type']; events: number[] }>;

/** The part of a conversation that has arrived. It is append-only, and nothing in it is stored twice. */
export interface Conversation {
  readonly events: readonly FcmpEvent[];
  /** The time of each event, in milliseconds; never decreasing, even if a clock was set back. */
  readonly times: readonly number[];
  readonly items: readonly Item[];
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
  readonly countItems: (eventCount: number) => number;
  readonly find: (seq: number) => number | null;
}

/** The maximum number of lines per item of output outside the agent's protocol. */
const MAX_RAW_LINES = 50;

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

  function findItem({ type }: FcmpEvent, key: string | null): number | undefined {
    if (key !== null) return open.get(key);
    const last = items.at(-1);
    const isContinued = isJoined(type) && last?.type === type && last.events.length < MAX_RAW_LINES;
    return isContinued ? items.length - 1 : undefined;
  }

  function updateQuestions(event: FcmpEvent, index: number): void {
    for (const question of openQuestions) {
      if (!closesQuestion(event, events[question])) continue;
      closings.set(question, index);
      openQuestions.delete(question);
    }
    if (event.type !== 'user.input.required' && event.type !== 'permission.required') return;
    if (!isAnswerable(event)) {
      closings.set(index, index);
      return;
    }
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
      const index = findFirstIndex(events, (event) => event.seq >= seq);
      return events[index]?.seq === seq ? index : null;
    },
  };
}

/** Whether someone can answer a question or a permission request: not if the turn of a run in mode `auto` ended with it. */
function isAnswerable(event: FcmpEvent): boolean {
  return event.type !== 'user.input.required' || event.data.answerable !== false;
}

function closesQuestion(event: FcmpEvent, question: FcmpEvent | undefined): boolean {
  if (question?.type !== 'permission.required' || question.meta.attempt !== event.meta.attempt) return true;
  if (event.type === 'conversation.completed' || event.type === 'conversation.failed') return true;
  return event.type === 'permission.replied' && event.data.interaction_id === question.data.interaction_id;
}

/** Whether consecutive events of a type are one item: lines of output, and statuses. */
function isJoined(type: FcmpEvent['type']): boolean {
  return type === 'raw.stdout' || type === 'raw.stderr' || type === 'conversation.status';
}

/** Returns the key shared by all events of an item; null for joined and for single-event items. */
function getKey(event: FcmpEvent): string | null {
  const { attempt } = event.meta;
  if (event.type === 'assistant.tool_call') return `tool ${attempt} ${event.data.tool_call_id}`;
  if (event.type === 'assistant.message.delta' || event.type === 'assistant.message.final') {
    return `message ${attempt} ${event.data.message_id}`;
  }
  if (event.type !== 'assistant.reasoning' || event.data.reasoning_id === undefined) return null;
  return `reasoning ${attempt} ${event.data.reasoning_id}`;
}

export type ItemView = NonNullable<ReturnType<typeof describeItem>>;

export type EndData = EventOf<'conversation.completed' | 'conversation.failed'>['data'];

/** Describes an item as of the first `eventCount` events; null if none of them belongs to it. */
export function describeItem(
  { events, times, findClosingEvent: findClosing }: Pick<Conversation, 'events' | 'times' | 'findClosingEvent'>,
  item: Item,
  eventCount: number,
) {
  const firstIndex = item.events[0] ?? 0;
  const first = events[firstIndex];
  if (first === undefined || firstIndex >= eventCount) return null;
  const common = {
    attempt: first.meta.attempt,
    at: times[firstIndex] ?? 0,
    seq: first.seq,
    /** The tool call that started the sub-agent the item belongs to; null for the agent itself. */
    parent: ('parent_tool_call_id' in first.data ? first.data.parent_tool_call_id : undefined) ?? null,
  };
  switch (first.type) {
    case 'conversation.started':
      return { ...common, kind: 'start', sessionId: first.data.session_id } as const;
    case 'conversation.status': {
      const statuses = selectParts(events, item, eventCount, first.type).map(({ data }) => data);
      const names = [...new Set(statuses.map(({ status }) => status))];
      return { ...common, kind: 'status', names, statuses } as const;
    }
    case 'assistant.message.delta':
    case 'assistant.message.final': {
      const final = selectParts(events, item, eventCount, 'assistant.message.final').at(-1);
      const deltas = selectParts(events, item, eventCount, 'assistant.message.delta');
      const text = final?.data.text ?? deltas.map(getText).join('');
      const payload = final?.data.structured_payload;
      return { ...common, kind: 'message', text, isComplete: final !== undefined, payload } as const;
    }
    case 'assistant.reasoning': {
      const parts = selectParts(events, item, eventCount, 'assistant.reasoning');
      const complete = parts.findLast(({ data }) => data.partial !== true);
      const text = complete === undefined ? parts.map(getText).join('') : complete.data.text;
      return { ...common, kind: 'reasoning', text, isComplete: complete !== undefined } as const;
    }
    case 'assistant.tool_call':
      return { ...common, ...describeTool(events, times, item, eventCount) } as const;
    case 'user.input.required':
    case 'permission.required': {
      const prompt = first.type === 'permission.required' ? t.allow(first.data.tool) : first.data.prompt;
      const isOpen = findClosing(firstIndex) >= eventCount;
      return { ...common, kind: 'question', prompt, isOpen, isAnswerable: isAnswerable(first) } as const;
    }
    case 'user.message':
    case 'user.input.replied':
      return { ...common, kind: 'reply', text: first.data.text } as const;
    case 'permission.replied':
      return { ...common, kind: 'reply', text: first.data.decision === 'allow' ? t.allowed : t.denied } as const;
    case 'assistant.plan': {
      const lines = first.data.entries.map(
        ({ content, status }) => `- [${status === 'completed' ? 'x' : ' '}] ${content}`,
      );
      return { ...common, kind: 'reasoning', text: lines.join('\n'), isComplete: true } as const;
    }
    case 'artifact.modified':
    case 'artifact.deleted':
    case 'artifact.created':
      return { ...common, kind: 'artifact', path: first.data.path, madeBy: first.data.made_by?.name ?? null } as const;
    case 'diagnostic.warning': {
      const { code, message, subject = null } = first.data;
      return { ...common, kind: 'diagnostic', code, message, subject } as const;
    }
    case 'raw.stdout':
    case 'raw.stderr': {
      const lines = selectParts(events, item, eventCount, first.type).map(getText);
      return { ...common, kind: 'raw', stream: first.type === 'raw.stdout' ? 'stdout' : 'stderr', lines } as const;
    }
    case 'conversation.completed':
      return { ...common, kind: 'completed', reason: first.data.reason_code, data: first.data } as const;
    case 'conversation.failed':
      return { ...common, kind: 'failed', ...first.data.error, data: first.data } as const;
  }
}

function describeTool(events: readonly FcmpEvent[], times: readonly number[], item: Item, eventCount: number) {
  const parts = selectParts(events, item, eventCount, 'assistant.tool_call');
  const last = parts.at(-1);
  const lastIndex = item.events[parts.length - 1] ?? 0;
  const status = last?.data.status ?? 'started';
  return {
    kind: 'tool' as const,
    name: last?.data.name ?? '',
    status,
    input: parts.findLast(({ data }) => data.input !== undefined)?.data.input,
    output: last?.data.output,
    error: last?.data.error ?? null,
    diff: parts.findLast(({ data }) => data.diff !== undefined)?.data.diff ?? [],
    ms: status === 'started' ? null : measureCall(last, (times[lastIndex] ?? 0) - (times[item.events[0] ?? 0] ?? 0)),
  };
}

/** Returns how long a call took: by the engine's own clock if it says so, otherwise as observed. */
export function measureCall(event: FcmpEvent | undefined, observedMs: number): number {
  if (event?.type !== 'assistant.tool_call') return observedMs;
  const { duration_ms, started_at, ended_at } = event.data;
  return duration_ms ?? (Date.parse(ended_at ?? '') - Date.parse(started_at ?? '') || observedMs);
}

type EventOf<Type> = Extract<FcmpEvent, { type: Type }>;

function selectParts<Type extends FcmpEvent['type']>(
  events: readonly FcmpEvent[],
  item: Item,
  eventCount: number,
  type: Type,
): readonly EventOf<Type>[] {
  const parts: EventOf<Type>[] = [];
  for (const index of item.events) {
    const event = events[index];
    if (index >= eventCount || event === undefined) break;
    if (event.type === type) parts.push(event as EventOf<Type>);
  }
  return parts;
}

function getText(event: { readonly data: { readonly text: string } }): string {
  return event.data.text;
}
