import type { FcmpEvent } from '../../../src/events/index.js';
import type { Conversation, Item } from './conversation.js';
import type { FileDiff } from './file-changes.js';

/** An item's state at a point in time, ready to be drawn. */
export type ItemView = {
  readonly attempt: number;
  /** The start, in milliseconds. */
  readonly at: number;
  readonly seq: number;
  /** The tool call that started the sub-agent the item belongs to; null for the agent itself. */
  readonly parent: string | null;
} & (
  | { readonly kind: 'start'; readonly sessionId: string | null }
  | { readonly kind: 'message'; readonly text: string; readonly isComplete: boolean; readonly payload: unknown }
  | { readonly kind: 'reasoning'; readonly text: string; readonly isComplete: boolean }
  | ToolView
  | { readonly kind: 'question'; readonly prompt: string; readonly isOpen: boolean }
  | { readonly kind: 'reply'; readonly text: string }
  | { readonly kind: 'artifact'; readonly path: string; readonly madeBy: string | null }
  | { readonly kind: 'diagnostic'; readonly code: string; readonly message: string; readonly subject: string | null }
  | { readonly kind: 'raw'; readonly stream: 'stdout' | 'stderr'; readonly lines: readonly string[] }
  | { readonly kind: 'completed'; readonly reason: string; readonly usage: Usage }
  | {
      readonly kind: 'failed';
      readonly category: string;
      readonly code: string;
      readonly message: string;
      readonly usage: Usage;
    }
);

/** A tool call; `ms` is its duration, once it has ended. */
interface ToolView {
  readonly kind: 'tool';
  readonly name: string;
  readonly status: 'started' | 'completed' | 'failed';
  readonly input: unknown;
  readonly output: unknown;
  readonly error: string | null;
  /** File changes, if the engine reports them. */
  readonly diff: readonly FileDiff[];
  readonly ms: number | null;
}

type Usage = Extract<FcmpEvent, { type: 'conversation.completed' }>['data']['usage'];

/** Describes an item as of the first `eventCount` events; null if none of them belongs to it. */
export function describeItem(
  { events, times, findClosingEvent: findClosing }: Pick<Conversation, 'events' | 'times' | 'findClosingEvent'>,
  item: Item,
  eventCount: number,
): ItemView | null {
  const firstIndex = item.events[0] ?? 0;
  const first = events[firstIndex];
  if (first === undefined || firstIndex >= eventCount) return null;
  const common = {
    attempt: first.meta.attempt,
    at: times[firstIndex] ?? 0,
    seq: first.seq,
    parent: ('parent_tool_call_id' in first.data ? first.data.parent_tool_call_id : undefined) ?? null,
  };
  switch (first.type) {
    case 'conversation.started':
      return { ...common, kind: 'start', sessionId: first.data.session_id };
    case 'assistant.message.delta':
    case 'assistant.message.final': {
      const final = selectParts(events, item, eventCount, 'assistant.message.final').at(-1);
      if (final !== undefined) {
        return {
          ...common,
          kind: 'message',
          text: final.data.text,
          isComplete: true,
          payload: final.data.structured_payload,
        };
      }
      const deltas = selectParts(events, item, eventCount, 'assistant.message.delta');
      return { ...common, kind: 'message', text: deltas.map(getText).join(''), isComplete: false, payload: undefined };
    }
    case 'assistant.reasoning': {
      const parts = selectParts(events, item, eventCount, 'assistant.reasoning');
      const complete = parts.findLast(({ data }) => data.partial !== true);
      const text = complete === undefined ? parts.map(getText).join('') : complete.data.text;
      return { ...common, kind: 'reasoning', text, isComplete: complete !== undefined };
    }
    case 'assistant.tool_call':
      return { ...common, ...describeTool(events, times, item, eventCount) };
    case 'user.input.required':
      return { ...common, kind: 'question', prompt: first.data.prompt, isOpen: findClosing(firstIndex) >= eventCount };
    case 'user.input.replied':
      return { ...common, kind: 'reply', text: first.data.text };
    case 'permission.required':
      return {
        ...common,
        kind: 'question',
        prompt: `Allow ${first.data.tool}?`,
        isOpen: findClosing(firstIndex) >= eventCount,
      };
    case 'permission.replied':
      return { ...common, kind: 'reply', text: first.data.decision === 'allow' ? 'Allowed' : 'Denied' };
    case 'assistant.plan': {
      const lines = first.data.entries.map(
        ({ content, status }) => `- [${status === 'completed' ? 'x' : ' '}] ${content}`,
      );
      return { ...common, kind: 'reasoning', text: lines.join('\n'), isComplete: true };
    }
    case 'artifact.modified':
    case 'artifact.deleted':
    case 'artifact.created':
      return { ...common, kind: 'artifact', path: first.data.path, madeBy: first.data.made_by?.name ?? null };
    case 'diagnostic.warning': {
      const { code, message, subject = null } = first.data;
      return { ...common, kind: 'diagnostic', code, message, subject };
    }
    case 'raw.stdout':
    case 'raw.stderr': {
      const parts = selectParts(events, item, eventCount, first.type);
      return {
        ...common,
        kind: 'raw',
        stream: first.type === 'raw.stdout' ? 'stdout' : 'stderr',
        lines: parts.map(getText),
      };
    }
    case 'conversation.completed':
      return { ...common, kind: 'completed', reason: first.data.reason_code, usage: first.data.usage };
    case 'conversation.failed':
      return { ...common, kind: 'failed', ...first.data.error, usage: first.data.usage };
  }
}

function describeTool(
  events: readonly FcmpEvent[],
  times: readonly number[],
  item: Item,
  eventCount: number,
): ToolView {
  const parts = selectParts(events, item, eventCount, 'assistant.tool_call');
  const last = parts.at(-1);
  const lastIndex = item.events[parts.length - 1] ?? 0;
  const status = last?.data.status ?? 'started';
  return {
    kind: 'tool',
    name: last?.data.name ?? '',
    status,
    input: parts.findLast(({ data }) => data.input !== undefined)?.data.input,
    output: last?.data.output,
    error: last?.data.error ?? null,
    diff: parts.findLast(({ data }) => data.diff !== undefined)?.data.diff ?? [],
    ms: status === 'started' ? null : (times[lastIndex] ?? 0) - (times[item.events[0] ?? 0] ?? 0),
  };
}

function selectParts<Type extends FcmpEvent['type']>(
  events: readonly FcmpEvent[],
  item: Item,
  eventCount: number,
  type: Type,
): readonly Extract<FcmpEvent, { type: Type }>[] {
  const parts: Extract<FcmpEvent, { type: Type }>[] = [];
  for (const index of item.events) {
    const event = events[index];
    if (index >= eventCount || event === undefined) break;
    if (hasType(event, type)) parts.push(event);
  }
  return parts;
}

function hasType<Type extends FcmpEvent['type']>(
  event: FcmpEvent,
  type: Type,
): event is Extract<FcmpEvent, { type: Type }> {
  return event.type === type;
}

function getText(event: { readonly data: { readonly text: string } }): string {
  return event.data.text;
}
