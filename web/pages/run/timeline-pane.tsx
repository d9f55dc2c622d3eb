import { useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { SafeText } from '../../ui/safe-text.js';
import { formatDuration } from '../../ui/time.js';
import { VirtualList } from '../../ui/virtual-list.js';
import { findEnd, findStart } from './clock.js';
import type { Conversation, Item } from './conversation.js';
import { findKind, isErrorItem } from './item-filter.js';
import type { ItemKind } from './item-filter.js';
import type { OpenRun } from './open-run.js';
import { createRowCache } from './row-cache.js';
import { findFirstAbove } from './sorted-search.js';
import { addRoom, hasOpenItem, listMarks, measureBar } from './timeline-bars.js';

/** How often an open bar grows. */
const GROW_INTERVAL_MS = 1000;

/** A timeline: one row per message, tool, sub-agent and wait, on a time axis. */
export function TimelinePane({ run, isLive }: { readonly run: OpenRun; readonly isLive: boolean }) {
  void run.redraws.timeline.value;
  const now = useSignal(0);
  const [cache] = useState(createRowCache);
  const { conversation } = run.data;
  const replayTime = run.replayTime.value;
  const highlight = run.highlight.value;
  const eventCount = replayTime === null ? conversation.events.length : findFirstAbove(conversation.times, replayTime);
  const visibleItems = run.filter.shown(conversation.countItems(eventCount));
  const start = findStart(run);
  const hasRunEnded = replayTime === null && run.span.value.end !== null;
  const isGrowing = replayTime === null && !hasRunEnded && hasOpenItem(conversation, eventCount);
  // An open question's or tool's bar ends at the current time. The axis has room for it to grow, so nothing else moves.
  const latest = Math.max(start + 1, findEnd(run), isGrowing ? now.value || Date.now() : 0);
  const room = useRef(0);
  if (isGrowing && latest > room.current) room.current = addRoom(start, latest);
  const end = isGrowing ? room.current : latest;
  useEffect(() => {
    if (!isGrowing) return;
    const timer = setInterval(() => (now.value = Date.now()), GROW_INTERVAL_MS);
    return () => clearInterval(timer);
  }, [isGrowing]);
  const choose = (position: number): void => {
    const event = conversation.events[conversation.items[visibleItems.itemAt(position)]?.events[0] ?? -1];
    if (event !== undefined) run.selection.value = { pane: 'conversation', seq: event.seq };
  };
  const row = (position: number) => {
    const index = visibleItems.itemAt(position);
    const item = conversation.items[index];
    if (item === undefined) return null;
    const isHighlighted = highlight?.items.has(index) ?? false;
    const eventsSoFar = findFirstAbove(item.events, eventCount - 1);
    const isOpen = conversation.findClosingEvent(item.events[0] ?? 0) >= eventCount;
    return cache(position, [index, eventsSoFar, isOpen, isHighlighted, hasRunEnded, start, end, latest], () => (
      <TimelineRow
        conversation={conversation}
        item={item}
        eventCount={eventCount}
        axis={{ start, end, latest }}
        hasRunEnded={hasRunEnded}
        isHighlighted={isHighlighted}
        onChoose={() => choose(position)}
      />
    ));
  };
  const selectedItem = highlight?.item ?? null;
  const position = selectedItem === null ? null : visibleItems.findPosition(selectedItem);
  const isShown = position !== null && position < visibleItems.count && visibleItems.itemAt(position) === selectedItem;
  return (
    <div class="timeline">
      <Axis lengthMs={end - start} />
      {visibleItems.count === 0 ? (
        <p class="run-pane-empty">
          {run.filter.isOn.value ? 'No items match.' : isLive ? 'No items yet.' : 'No items up to this point.'}
        </p>
      ) : (
        <VirtualList
          key={JSON.stringify(run.filter.query.value)}
          label="Timeline"
          count={visibleItems.count}
          estimate={25}
          row={row}
          target={replayTime === null ? (isShown ? position : null) : visibleItems.count - 1}
          active={isShown ? position : null}
          follow={isLive && replayTime === null}
          onMove={choose}
        />
      )}
    </div>
  );
}

function Axis({ lengthMs }: { readonly lengthMs: number }) {
  return (
    <div class="timeline-axis" aria-hidden="true">
      <span />
      <span class="timeline-track">
        {listMarks(lengthMs).map(({ at, ms }) => (
          <span key={ms} class={at > 0.94 ? 'timeline-mark at-end' : 'timeline-mark'} style={{ left: `${at * 100}%` }}>
            {formatDuration(ms)}
          </span>
        ))}
      </span>
    </div>
  );
}

function TimelineRow({
  conversation,
  item,
  eventCount,
  axis: { start, end, latest },
  hasRunEnded,
  isHighlighted,
  onChoose,
}: {
  readonly conversation: Conversation;
  readonly item: Item;
  readonly eventCount: number;
  readonly axis: { readonly start: number; readonly end: number; readonly latest: number };
  readonly hasRunEnded: boolean;
  readonly isHighlighted: boolean;
  readonly onChoose: () => void;
}) {
  const { from, to, isOpen } = measureBar(conversation, item, eventCount, { start, end: latest });
  const kind = findKind(conversation, item);
  const isError = isErrorItem(conversation, item);
  const length = end - start;
  const left = Math.min(99.6, Math.max(0, ((from - start) / length) * 100));
  const width = Math.max(0.25, Math.min(100 - left, ((to - from) / length) * 100));
  const duration = to > from ? formatDuration(to - from) : '';
  const isGrowing = isOpen && !hasRunEnded;
  const label = `${duration}${isGrowing ? ' …' : ''}`;
  const labelPosition = chooseLabelPosition({ left, width, isGrowing });
  return (
    <div class={`timeline-row ${kind}${isError ? ' error' : ''}${isHighlighted ? ' highlighted' : ''}`}>
      <button type="button" class="choose" tabIndex={-1} aria-pressed={isHighlighted} onClick={onChoose}>
        <span class="timeline-name one-line">
          <span class="timeline-kind">{KIND_LABELS[kind]}</span> <SafeText text={getItemName(conversation, item)} />
          {isError ? <span class="timeline-error"> Error</span> : null}
        </span>
        <span class="timeline-track">
          <span class="timeline-bar" style={{ left: `${left}%`, width: `${width}%` }} />
          <span class={`timeline-duration ${labelPosition}`} style={LABEL_POSITIONS[labelPosition](left, left + width)}>
            {label}
          </span>
        </span>
      </button>
    </div>
  );
}

/**
 * Chooses where the duration is shown: after the bar if there is room, otherwise before or inside it; for a growing
 * bar, at the end of the axis.
 */
function chooseLabelPosition(bar: { readonly left: number; readonly width: number; readonly isGrowing: boolean }) {
  if (bar.isGrowing) return 'axis-end';
  if (bar.left + bar.width <= 88) return 'after';
  return bar.left >= 12 ? 'before' : 'end';
}

const LABEL_POSITIONS = {
  'axis-end': () => ({ right: '0' }),
  after: (_left: number, right: number) => ({ left: `${right}%` }),
  before: (left: number) => ({ right: `${100 - left}%` }),
  end: (_left: number, right: number) => ({ right: `${100 - right}%` }),
} as const;

const KIND_LABELS: Readonly<Record<ItemKind, string>> = {
  messages: 'Message',
  reasoning: 'Reasoning',
  tools: 'Tool',
  'sub-agents': 'Sub-agent',
  questions: 'Question',
  files: 'File',
  output: 'Output',
  other: 'Run',
};

const MAX_NAME_LENGTH = 80;

/** Returns a row's name: the tool and its input, or the first words. */
export function getItemName({ events }: Pick<Conversation, 'events'>, item: Item): string {
  const first = events[item.events[0] ?? 0];
  if (first === undefined) return '';
  if (first.type === 'assistant.tool_call') {
    const { input, name } = first.data;
    const fields: readonly unknown[] = typeof input === 'object' && input !== null ? Object.values(input) : [input];
    const detail = fields.find((value): value is string => typeof value === 'string') ?? '';
    return shorten(`${name} ${detail.slice(0, MAX_NAME_LENGTH)}`);
  }
  for (const key of ['text', 'prompt', 'path', 'tool', 'message', 'reason_code', 'session_id'] as const) {
    const value: unknown = Reflect.get(first.data, key);
    if (typeof value === 'string') return shorten(value.slice(0, MAX_NAME_LENGTH * 2));
  }
  return first.type;
}

function shorten(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_NAME_LENGTH);
}
