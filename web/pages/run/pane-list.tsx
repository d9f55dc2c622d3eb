import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { VirtualList } from '../../ui/virtual-list.js';
import { findFirstAbove } from './byte-ranges.js';
import type { OpenRun } from './open-run.js';
import { setLatest } from '../../../src/base/index.js';
import { t } from './texts.js';

export type PaneProps = Readonly<{ run: OpenRun; isLive: boolean }>;

type PaneRow = readonly [dependencies: readonly unknown[], draw: () => ComponentChildren];

/** The rows of a pane, scrolled to the selected one or to the replayed time; without rows, the reason. */
export function PaneList(
  props: PaneProps & {
    readonly label: string;
    readonly count: number;
    readonly estimate: number;
    readonly selected: number | null;
    readonly noun: keyof typeof t.empty;
    readonly isFiltered?: boolean;
    readonly row: (index: number) => PaneRow | null;
    readonly onChoose: (index: number) => void;
  },
) {
  const { run, isLive, label, count, estimate, selected, noun, isFiltered = false, row, onChoose } = props;
  const [cache] = useState(createRowCache);
  if (count === 0) {
    if (!isLoading(run.connection.value.state, isLive))
      return <p class="run-pane-empty">{t.empty[noun][isFiltered ? 'match' : isLive ? 'yet' : 'before']}</p>;
    return (
      <div class="run-pane-skeleton" role="status" aria-busy="true">
        <span class="visually-hidden">{t.loading}</span>
      </div>
    );
  }
  const isReplayed = run.replayTime.value !== null;
  return (
    <VirtualList
      label={label}
      count={count}
      estimate={estimate}
      row={(index) => {
        const found = row(index);
        return found === null ? null : cache(index, ...found);
      }}
      target={isReplayed ? count - 1 : selected}
      active={selected}
      follow={isLive && !isReplayed}
      onMove={onChoose}
    />
  );
}

/** Whether rows may still arrive that existed before the page was opened: of an ended run, until all have arrived. */
function isLoading(state: OpenRun['connection']['value']['state'], isLive: boolean): boolean {
  return state === 'opening' || (!isLive && (state === 'live' || state === 'reconnecting'));
}

/** The items of the conversation that match the filter at the replayed time: the rows of two panes. */
export function listItems(run: OpenRun) {
  const { conversation } = run.data;
  const replayTime = run.replayTime.value;
  const highlight = run.highlight.value;
  const eventCount = replayTime === null ? conversation.events.length : findFirstAbove(conversation.times, replayTime);
  const { count, itemAt, findPosition } = run.filter.shown(conversation.countItems(eventCount));
  const start = findStart(run);
  // A replay shows what was known at that time.
  const hasRunEnded = replayTime === null && run.span.value.end !== null;
  const position = typeof highlight?.item === 'number' ? findPosition(highlight.item) : count;
  const onChoose = (chosen: number): void => {
    const event = conversation.events[conversation.items[itemAt(chosen)]?.events[0] ?? -1];
    if (event !== undefined) run.selection.value = { pane: 'conversation', seq: event.seq };
  };
  const find = (at: number) => {
    const index = itemAt(at);
    const item = conversation.items[index];
    if (item === undefined) return null;
    const isHighlighted = highlight?.items.has(index) ?? false;
    const isOpen = conversation.findClosingEvent(item.events[0] ?? 0) >= eventCount;
    const eventsSoFar = findFirstAbove(item.events, eventCount - 1);
    // They change whenever the item has to be drawn again.
    const dependencies: readonly unknown[] = [item, eventsSoFar, isOpen, isHighlighted, hasRunEnded, start];
    return { item, dependencies, isHighlighted, onChoose: () => onChoose(at) };
  };
  const selected = position < count && itemAt(position) === highlight?.item ? position : null;
  // Another filter starts another list.
  const list = { key: JSON.stringify(run.filter.query.value), count, selected, onChoose, noun: 'items' as const };
  const shared = { start, hasRunEnded };
  return { conversation, eventCount, shared, find, list: { ...list, isFiltered: run.filter.isOn.value } };
}

/** The context of an item in its row: what all items share, and its own state. */
export type ListedItem = ReturnType<typeof listItems>['shared'] &
  NonNullable<ReturnType<ReturnType<typeof listItems>['find']>>;

const MAX_ROWS = 400;

/** Creates a cache of rendered rows, so unchanged rows cost nothing when others are added. */
export function createRowCache(): (index: number, ...row: PaneRow) => ComponentChildren {
  const cached = new Map<number, Readonly<{ dependencies: readonly unknown[]; rendered: ComponentChildren }>>();
  return (index, dependencies, draw) => {
    const cachedRow = cached.get(index);
    if (cachedRow?.dependencies.every((dependency, at) => Object.is(dependency, dependencies[at])) === true)
      return cachedRow.rendered;
    const rendered = draw();
    setLatest(cached, MAX_ROWS, index, { dependencies, rendered });
    return rendered;
  };
}

/** Shows a time as the offset from the run's start: `0:07.250`. The tooltip has the time of day. */
export function Clock({ at, start }: Readonly<{ at: number | null; start: number }>) {
  if (at === null) return <span class="clock">·</span>;
  const isoTime = new Date(at).toISOString();
  return (
    <time class="clock" dateTime={isoTime} title={isoTime}>
      {formatOffset(at - start)}
    </time>
  );
}

/** Formats minutes, seconds and milliseconds, and hours if nonzero. */
export function formatOffset(ms: number): string {
  const rounded = Math.max(0, Math.round(ms));
  const hours = Math.floor(rounded / 3_600_000);
  const minutes = Math.floor(rounded / 60_000) % 60;
  const seconds = (rounded % 60_000) / 1000;
  const tail = seconds.toFixed(3).padStart(6, '0');
  return hours === 0 ? `${minutes}:${tail}` : `${hours}:${String(minutes).padStart(2, '0')}:${tail}`;
}

/** Returns the run's start, or the time of its first event if that is earlier. Times are shown relative to it. */
export function findStart({ span, data: { conversation, list } }: Timed): number {
  const never = Number.POSITIVE_INFINITY;
  return Math.min(span.value.start ?? never, list.times[0] ?? never, conversation.times[0] ?? never);
}

/** Returns the run's end, or the time of its last event if that is later. */
export function findEnd(run: Timed): number {
  const { conversation, list } = run.data;
  const never = Number.NEGATIVE_INFINITY;
  const last = Math.max(run.span.value.end ?? never, list.times.at(-1) ?? never, conversation.times.at(-1) ?? never);
  return last === never ? findStart(run) : last;
}

type Timed = Pick<OpenRun, 'span' | 'data'>;
