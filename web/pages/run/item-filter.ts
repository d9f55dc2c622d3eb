import { computed, signal } from '@preact/signals';
import type { FcmpEvent } from '../../../src/events/index.js';
import type { Conversation, Item } from './conversation.js';
import { findFirstIndex } from '../../../src/base/index.js';

export const ITEM_KINDS = [
  'messages',
  'reasoning',
  'tools',
  'sub-agents',
  'questions',
  'files',
  'output',
  'other',
] as const;

export type ItemKind = (typeof ITEM_KINDS)[number];

const KINDS_BY_TYPE: Readonly<Partial<Record<FcmpEvent['type'], ItemKind>>> = {
  'assistant.message.delta': 'messages',
  'assistant.message.final': 'messages',
  'assistant.reasoning': 'reasoning',
  'assistant.plan': 'reasoning',
  'assistant.tool_call': 'tools',
  'user.input.required': 'questions',
  'user.input.replied': 'questions',
  'permission.required': 'questions',
  'permission.replied': 'questions',
  'artifact.created': 'files',
  'artifact.modified': 'files',
  'artifact.deleted': 'files',
  'raw.stdout': 'output',
  'raw.stderr': 'output',
};

/** Returns an item's kind. Everything a sub-agent does has the kind `sub-agents`. */
export function findKind({ events }: Pick<Conversation, 'events'>, item: Item): ItemKind {
  const first = events[item.events[0] ?? 0];
  if (first !== undefined && 'parent_tool_call_id' in first.data && first.data.parent_tool_call_id !== undefined) {
    return 'sub-agents';
  }
  return KINDS_BY_TYPE[item.type] ?? 'other';
}

/** Whether an item ended as a failure: a failed tool or a failed conversation. */
export function isFailedItem({ events }: Pick<Conversation, 'events'>, item: Item): boolean {
  const last = events[item.events.at(-1) ?? 0];
  if (last?.type === 'assistant.tool_call') return last.data.status === 'failed';
  return last?.type === 'conversation.failed' && last.data.error.category !== 'canceled';
}

/** Whether an item may explain a failure: a failed item, a diagnostic, or output on stderr. */
function isErrorItem({ events }: Pick<Conversation, 'events'>, item: Item): boolean {
  const last = events[item.events.at(-1) ?? 0];
  if (last?.type === 'assistant.tool_call') return last.data.status === 'failed';
  return last !== undefined && ERROR_TYPES.includes(last.type);
}

const ERROR_TYPES: readonly string[] = ['conversation.failed', 'diagnostic.warning', 'raw.stderr'];

const MAX_SEARCHED = 1 << 20;
const MAX_TEXTS = 5000;

function hasText({ events }: Pick<Conversation, 'events'>, indexes: readonly number[], pattern: RegExp): boolean {
  return indexes.some((index) => {
    const pending: unknown[] = [events[index]?.data];
    for (let count = 0; pending.length > 0 && count < MAX_TEXTS; count += 1) {
      const value = pending.pop();
      if (typeof value === 'string' && pattern.test(value.slice(0, MAX_SEARCHED))) return true;
      if (typeof value !== 'object' || value === null) continue;
      const values: readonly unknown[] = Object.values(value);
      for (const inner of values.slice(0, MAX_TEXTS)) pending.push(inner);
    }
    return false;
  });
}

interface ItemQuery {
  readonly attempt: number | null;
  readonly kind: ItemKind | null;
  readonly errorsOnly: boolean;
  /** The text to find, ignoring case; empty for everything. */
  readonly text: string;
}

const EVERYTHING: ItemQuery = { attempt: null, kind: null, errorsOnly: false, text: '' };

/** The search time per slice: a frame takes 16 ms, part of which is needed for drawing. */
const SLICE_MS = 8;
const MAX_QUERY_LENGTH = 200;

/** Creates a filter of a growing conversation; `onChange` is called when the visible items change. Without a query, it does no work. */
export function createItemFilter(
  conversation: Conversation,
  onChange: () => void,
  pause: (run: () => void) => void = (run) => void setTimeout(run, 0),
) {
  const query = signal(EVERYTHING);
  const isDone = signal(true);
  const isOn = computed(() => {
    const { attempt, kind, errorsOnly, text } = query.value;
    return attempt !== null || kind !== null || errorsOnly || text !== '';
  });
  let pattern: RegExp | null = null;
  let matchingItems: number[] = [];
  let searchedCount = 0;
  let searchedEvents = 0;
  let searchId = 0;
  let isSearching = false;

  /** Whether an item matches the query; its text is searched only in `events`. */
  function matches(item: Item, events: readonly number[] = item.events): boolean {
    const { attempt, kind, errorsOnly } = query.peek();
    if (attempt !== null && conversation.events[item.events[0] ?? 0]?.meta.attempt !== attempt) return false;
    if (kind !== null && findKind(conversation, item) !== kind) return false;
    if (errorsOnly && !isErrorItem(conversation, item)) return false;
    return pattern === null || hasText(conversation, events, pattern);
  }
  /** Searches items for a few milliseconds, then continues in another task. Stops if the query has changed. */
  function search(id: number): void {
    if (id !== searchId) return;
    const end = performance.now() + SLICE_MS;
    while (searchedCount < conversation.items.length && performance.now() < end) {
      const item = conversation.items[searchedCount];
      if (item !== undefined && matches(item)) matchingItems.push(searchedCount);
      searchedCount += 1;
    }
    isSearching = searchedCount < conversation.items.length;
    isDone.value = !isSearching;
    onChange();
    if (isSearching) pause(() => search(id));
  }
  /** Searches grown items again: a tool might have failed, or a message might now contain the query. */
  function searchGrownItems(): void {
    for (; searchedEvents < conversation.events.length; searchedEvents += 1) {
      const index = conversation.itemIndexes[searchedEvents] ?? 0;
      const item = conversation.items[index];
      if (item === undefined || index >= searchedCount) continue;
      // Only a message's new event is searched, because a message can have very many. Items with errors have few
      // events.
      if (!matches(item, query.peek().errorsOnly ? item.events : [searchedEvents])) continue;
      const position = findFirstIndex(matchingItems, (number) => number >= index);
      if (matchingItems[position] === index) continue;
      matchingItems.splice(position, 0, index);
      onChange();
    }
  }
  return {
    query,
    isOn,
    isDone,
    set(changes: Partial<ItemQuery>): void {
      const next = { ...query.peek(), ...changes };
      const text = next.text.slice(0, MAX_QUERY_LENGTH);
      query.value = { ...next, text };
      pattern = text === '' ? null : new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`), 'i');
      searchId += 1;
      matchingItems = [];
      searchedCount = 0;
      searchedEvents = conversation.events.length;
      if (isOn.peek()) search(searchId);
      else {
        isDone.value = true;
        onChange();
      }
    },
    update(): void {
      if (!isOn.peek()) return;
      searchGrownItems();
      if (isSearching || searchedCount >= conversation.items.length) return;
      isSearching = true;
      pause(() => search(searchId));
    },
    /** Returns the matching items among the first ones. A hidden item has the position of the next visible one. */
    shown(itemCount: number) {
      const list = isOn.value ? matchingItems : null;
      const findPosition = (item: number): number =>
        list === null ? item : findFirstIndex(list, (number) => number >= item);
      const itemAt = (position: number): number => (list === null ? position : (list[position] ?? -1));
      return { count: findPosition(itemCount), itemAt, findPosition };
    },
  };
}

/** Finds the next item with an error, in either direction, wrapping around at the end; null if no item has an error. */
export function findNextError(
  conversation: Pick<Conversation, 'items' | 'events'>,
  from: number | null,
  step: 1 | -1,
): number | null {
  const { items } = conversation;
  const start = from ?? (step === 1 ? -1 : items.length);
  for (let count = 1; count <= items.length; count += 1) {
    const index = (((start + step * count) % items.length) + items.length) % items.length;
    const item = items[index];
    if (item !== undefined && isErrorItem(conversation, item)) return index;
  }
  return null;
}
