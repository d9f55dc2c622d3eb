import { computed, signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { FcmpEvent } from '../../../src/events/index.js';
import type { Conversation, Item } from './conversation.js';
import { firstWhere } from './sorted-search.js';

/** Kinds of items, as a person asks for them. */
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

/** See {@link ITEM_KINDS}. */
export type ItemKind = (typeof ITEM_KINDS)[number];

const KIND_OF_TYPE: Readonly<Partial<Record<FcmpEvent['type'], ItemKind>>> = {
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

/** Finds the kind of an item. Everything a sub-agent says or does is of that kind. */
export function findKind({ events }: Pick<Conversation, 'events'>, item: Item): ItemKind {
  const first = events[item.events[0] ?? 0];
  if (first !== undefined && 'parent_tool_call_id' in first.data && first.data.parent_tool_call_id !== undefined) {
    return 'sub-agents';
  }
  return KIND_OF_TYPE[item.type] ?? 'other';
}

/** Whether something went wrong in an item: a failed tool, a failed or diagnosed run, output on stderr. */
export function isErrorItem({ events }: Pick<Conversation, 'events'>, item: Item): boolean {
  const last = events[item.events.at(-1) ?? 0];
  if (last?.type === 'assistant.tool_call') return last.data.status === 'failed';
  return last !== undefined && ERROR_TYPES.has(last.type);
}

const ERROR_TYPES: ReadonlySet<FcmpEvent['type']> = new Set([
  'conversation.failed',
  'diagnostic.warning',
  'raw.stderr',
]);

/** Characters of one text that are searched; more are in the lens of raw bytes. */
const MAX_SEARCHED = 1 << 20;
/** Texts within one event. */
const MAX_TEXTS = 5000;

/** Whether an item has a text: in any string of its events, at any depth, in any case. */
function hasText({ events }: Pick<Conversation, 'events'>, item: Item, pattern: RegExp): boolean {
  return item.events.some((index) => {
    const waiting: unknown[] = [events[index]?.data];
    for (let count = 0; waiting.length > 0 && count < MAX_TEXTS; count += 1) {
      const value = waiting.pop();
      if (typeof value === 'string' && pattern.test(value.slice(0, MAX_SEARCHED))) return true;
      if (typeof value !== 'object' || value === null) continue;
      const inners: readonly unknown[] = Object.values(value);
      for (const inner of inners.slice(0, MAX_TEXTS)) waiting.push(inner);
    }
    return false;
  });
}

/** The filter of a conversation. */
export interface ItemQuery {
  /** Null for every kind. */
  readonly kind: ItemKind | null;
  readonly errorsOnly: boolean;
  /** Words to find; empty for everything. */
  readonly text: string;
}

const EVERYTHING: ItemQuery = { kind: null, errorsOnly: false, text: '' };

/** The items that are asked for, as far as they are known. */
export interface ShownItems {
  /** How many are shown. */
  readonly count: number;
  /** The item at a position. */
  readonly itemAt: (position: number) => number;
  /** The position of an item, or of the next that is shown. */
  readonly positionOf: (item: number) => number;
}

/** Filters the items of a conversation that grows; without a query it costs nothing. */
export interface ItemFilter {
  readonly query: ReadonlySignal<ItemQuery>;
  /** Whether anything is left out. */
  readonly isOn: ReadonlySignal<boolean>;
  /** Whether all items that have come were looked at. */
  readonly isDone: ReadonlySignal<boolean>;
  readonly set: (changes: Partial<ItemQuery>) => void;
  /** Looks at what has come since. */
  readonly update: () => void;
  /** The items among the first `itemCount`. */
  readonly shown: (itemCount: number) => ShownItems;
}

/** Work in one go: a frame has 16 ms, and drawing needs its share. */
const SLICE_MS = 8;
const MAX_QUERY_LENGTH = 200;

/** Creates the filter of a conversation; `onChange` is called when there is more to show. */
export function createItemFilter(
  conversation: Conversation,
  onChange: () => void,
  pause: (run: () => void) => void = (run) => void setTimeout(run, 0),
): ItemFilter {
  const query = signal(EVERYTHING);
  const isDone = signal(true);
  const isOn = computed(() => query.value.kind !== null || query.value.errorsOnly || query.value.text !== '');
  let found: number[] = [];
  let lookedAt = 0;
  let turn = 0;
  let isLooking = false;

  function fits(item: Item, { kind, errorsOnly }: ItemQuery, pattern: RegExp | null): boolean {
    if (kind !== null && findKind(conversation, item) !== kind) return false;
    if (errorsOnly && !isErrorItem(conversation, item)) return false;
    return pattern === null || hasText(conversation, item, pattern);
  }
  /** Searches items for a while, then lets the page draw and react. */
  function look(own: number): void {
    if (own !== turn) return;
    const asked = query.peek();
    const pattern = asked.text === '' ? null : new RegExp(escapePattern(asked.text), 'i');
    const end = performance.now() + SLICE_MS;
    while (lookedAt < conversation.items.length && performance.now() < end) {
      const item = conversation.items[lookedAt];
      if (item !== undefined && fits(item, asked, pattern)) found.push(lookedAt);
      lookedAt += 1;
    }
    isLooking = lookedAt < conversation.items.length;
    isDone.value = !isLooking;
    onChange();
    if (isLooking) pause(() => look(own));
  }
  return {
    query,
    isOn,
    isDone,
    set(changes) {
      query.value = { ...query.peek(), ...changes };
      query.value = { ...query.peek(), text: query.peek().text.slice(0, MAX_QUERY_LENGTH) };
      turn += 1;
      found = [];
      lookedAt = 0;
      if (isOn.peek()) look(turn);
      else {
        isDone.value = true;
        onChange();
      }
    },
    update() {
      if (!isOn.peek() || isLooking || lookedAt >= conversation.items.length) return;
      isLooking = true;
      pause(() => look(turn));
    },
    shown(itemCount) {
      if (!isOn.value) return { count: itemCount, itemAt: (position) => position, positionOf: (item) => item };
      const list = found;
      return {
        count: firstWhere(list.length, (at) => (list[at] ?? 0) >= itemCount),
        itemAt: (position) => list[position] ?? -1,
        positionOf: (item) => firstWhere(list.length, (at) => (list[at] ?? 0) >= item),
      };
    },
  };
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

/** Items that are searched for the next error at once; no conversation has more. */
const MAX_STEPS = 1_000_000;

/** The next item with an error after one, in either direction, around the end; null if there is none. */
export function findNextError(
  conversation: Pick<Conversation, 'items' | 'events'>,
  from: number | null,
  step: 1 | -1,
): number | null {
  const { items } = conversation;
  const start = from ?? (step === 1 ? -1 : items.length);
  for (let count = 1; count <= Math.min(items.length, MAX_STEPS); count += 1) {
    const index = (((start + step * count) % items.length) + items.length) % items.length;
    const item = items[index];
    if (item !== undefined && isErrorItem(conversation, item)) return index;
  }
  return null;
}
