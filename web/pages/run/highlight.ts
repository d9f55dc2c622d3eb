import { joinSpans, type ByteRanges, type ByteSpan } from './byte-ranges.js';
import type { Conversation } from './conversation.js';
import type { EventList, RawRows } from './raw-bytes.js';
import type { RawRef } from '../../../src/events/index.js';

export type RunData = Readonly<{ conversation: Conversation; list: EventList; rows: RawRows }>;

/** The rows that a selection highlights in each pane, and the row each pane scrolls to. */
export interface Highlight {
  readonly selection: Selection;
  readonly bytes: ByteRanges;
  readonly items: ReadonlySet<number>;
  readonly item: number | null;
  readonly event: number | null;
  readonly row: number | null;
}

/** The maximum number of events per item whose bytes are highlighted; an item can have very many events. */
const MAX_SPANS = 5000;

/** Finds everything derived from the same bytes as a selection; null if the selected event has not arrived yet. */
export function findHighlight(data: RunData, selection: Selection): Highlight | null {
  const spans = findSpans(data, selection);
  if (spans === null) return null;
  const { conversation, list, rows } = data;
  const bytes = joinSpans(spans);
  const items = new Set<number>();
  for (const span of bytes.spans) {
    for (const event of conversation.refs.overlapping(span)) items.add(conversation.itemIndexes[event] ?? 0);
  }
  const selectedItem = findSelectedItem(data, selection);
  if (selectedItem !== null) items.add(selectedItem);
  const [first] = bytes.spans;
  const event = selection.pane === 'events' ? list.find(selection.attempt, selection.seq) : null;
  return {
    selection,
    bytes,
    items,
    item: selectedItem ?? [...items].reduce<number | null>((least, item) => Math.min(least ?? item, item), null),
    event: event ?? (first === undefined ? null : (list.refs.overlapping(first, 1)[0] ?? null)),
    row: first === undefined ? null : rows.find(first),
  };
}

function findSpans(data: RunData, selection: Selection): readonly ByteSpan[] | null {
  const { conversation, list } = data;
  switch (selection.pane) {
    case 'conversation': {
      const selectedItem = findSelectedItem(data, selection);
      if (selectedItem === null) return null;
      const events = conversation.items[selectedItem]?.events.slice(0, MAX_SPANS) ?? [];
      return events.flatMap((index) => conversation.events[index]?.raw_ref ?? []);
    }
    case 'events': {
      const index = list.find(selection.attempt, selection.seq);
      if (index === null) return null;
      const ref = list.events[index]?.raw_ref ?? null;
      return ref === null ? [] : [ref];
    }
    case 'raw':
      return [selection];
  }
}

function findSelectedItem({ conversation }: RunData, selection: Selection): number | null {
  if (selection.pane !== 'conversation') return null;
  const index = conversation.find(selection.seq);
  return index === null ? null : (conversation.itemIndexes[index] ?? null);
}

/** A selection in a pane. It is stored in the query, so it consists of stable numbers and names. */
export type Selection =
  | { readonly pane: 'conversation'; readonly seq: number }
  | { readonly pane: 'events'; readonly attempt: number; readonly seq: number }
  | ({ readonly pane: 'raw' } & ByteSpan);

/** Formats a selection for the query: `c12`, `e1.17`, `b1.stdout.100-200`. */
export function formatSelection(selection: Selection): string {
  if (selection.pane === 'conversation') return `c${selection.seq}`;
  if (selection.pane === 'events') return `e${selection.attempt}.${selection.seq}`;
  return `b${selection.attempt_number}.${selection.stream}.${selection.byte_from}-${selection.byte_to}`;
}

/** Parses a selection as formatted by {@link formatSelection}; null if invalid. */
export function parseSelection(text: string | null): Selection | null {
  const [, seq] = /^c(\d{1,15})$/.exec(text ?? '') ?? [];
  if (seq !== undefined) return { pane: 'conversation', seq: Number(seq) };
  const [, attempt, eventSeq] = /^e(\d{1,9})\.(\d{1,15})$/.exec(text ?? '') ?? [];
  if (attempt !== undefined) return { pane: 'events', attempt: Number(attempt), seq: Number(eventSeq) };
  const [, number, stream, from, to] = /^b(\d{1,9})\.(\w+)\.(\d{1,15})-(\d{1,15})$/.exec(text ?? '') ?? [];
  if (number === undefined || !isStream(stream) || Number(to) <= Number(from)) return null;
  return { pane: 'raw', attempt_number: Number(number), stream, byte_from: Number(from), byte_to: Number(to) };
}

function isStream(stream: string | undefined): stream is RawRef['stream'] {
  return stream === 'stdout' || stream === 'stderr' || stream === 'pty';
}
