import { useSignal } from '@preact/signals';
import type { CSSProperties } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { SafeText, formatDuration } from '../../ui/text.js';
import { findFirstAbove } from './byte-ranges.js';
import { findEnd, listItems, PaneList, type ListedItem, type PaneProps } from './pane-list.js';
import { measureCall, type Conversation, type Item } from './conversation.js';
import { findKind, isFailedItem, type ItemKind } from './item-filter.js';
import { t } from './texts.js';

const GROW_INTERVAL_MS = 1000;

/** A timeline: one row per message, tool, sub-agent and wait, on a time axis. */
export function TimelinePane({ run, isLive }: PaneProps) {
  void run.redraws.timeline.value;
  const now = useSignal(0);
  const { conversation, eventCount, shared, find, list } = listItems(run);
  const { start, hasRunEnded } = shared;
  const isGrowing = run.replayTime.value === null && !hasRunEnded && hasOpenItem(conversation, eventCount);
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
  return (
    <div class="timeline">
      <div class="timeline-axis" aria-hidden="true">
        <span />
        <span class="timeline-track">
          {listMarks(end - start).map(({ at, ms }) => (
            <span
              key={ms}
              class={at > 0.94 ? 'timeline-mark at-end' : 'timeline-mark'}
              style={{ left: `${at * 100}%` }}
            >
              {formatDuration(ms)}
            </span>
          ))}
        </span>
      </div>
      <PaneList
        run={run}
        isLive={isLive}
        label={t.states.timeline}
        estimate={25}
        {...list}
        row={(position) => {
          const found = find(position);
          if (found === null) return null;
          const axis = { conversation, eventCount, end, latest };
          return [[...found.dependencies, end, latest], () => <TimelineRow {...axis} {...shared} {...found} />];
        }}
      />
    </div>
  );
}

function TimelineRow(
  props: ListedItem & Readonly<{ conversation: Conversation; eventCount: number; end: number; latest: number }>,
) {
  const { conversation, item, eventCount, start, end, latest, hasRunEnded, isHighlighted, onChoose } = props;
  const { from, to, isOpen } = measureBar(conversation, item, eventCount, { start, end: latest });
  const kind = findKind(conversation, item);
  const isFailed = isFailedItem(conversation, item);
  const length = end - start;
  const left = Math.min(99.6, Math.max(0, ((from - start) / length) * 100));
  const width = Math.max(0.25, Math.min(100 - left, ((to - from) / length) * 100));
  const duration = to > from ? formatDuration(to - from) : '';
  const isGrowing = isOpen && !hasRunEnded;
  const label = `${duration}${isGrowing ? ' …' : ''}`;
  const [place, labelStyle] = placeLabel(left, left + width, isGrowing);
  return (
    <div class={`timeline-row ${kind}${isFailed ? ' failed' : ''}${isHighlighted ? ' highlighted' : ''}`}>
      <button type="button" class="choose" tabIndex={-1} aria-pressed={isHighlighted} onClick={onChoose}>
        <span class="timeline-name one-line">
          <span class="timeline-kind">{KIND_LABELS[kind]}</span> <SafeText text={getItemName(conversation, item)} />
          {isFailed ? <span class="timeline-error"> {t.states.failed}</span> : null}
        </span>
        <span class="timeline-track">
          <span class="timeline-bar" style={{ left: `${left}%`, width: `${width}%` }} />
          <span class={`timeline-duration ${place}`} style={labelStyle}>
            {label}
          </span>
        </span>
      </button>
    </div>
  );
}

/** Places the duration after the bar, before or inside it; for a growing bar, at the end of the axis. */
function placeLabel(left: number, right: number, isGrowing: boolean): readonly [name: string, style: CSSProperties] {
  if (isGrowing) return ['axis-end', { right: '0' }];
  if (right <= 88) return ['after', { left: `${right}%` }];
  return left >= 12 ? ['before', { right: `${100 - left}%` }] : ['end', { right: `${100 - right}%` }];
}

const KIND_LABELS: Readonly<Record<ItemKind, string>> = {
  messages: t.message,
  reasoning: t.states.reasoning,
  tools: t.tool,
  'sub-agents': t.subAgent,
  questions: t.states.question,
  files: t.file,
  output: t.states.output,
  other: t.run,
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
  for (const key of ['status', 'text', 'prompt', 'path', 'tool', 'message', 'reason_code', 'session_id'] as const) {
    const value: unknown = Reflect.get(first.data, key);
    if (typeof value === 'string') return shorten(value.slice(0, MAX_NAME_LENGTH * 2));
  }
  return first.type;
}

function shorten(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_NAME_LENGTH);
}

/**
 * Measures the start and end of an item. A tool lasts from its start to its end, and a question until it is answered. A
 * message starts with the previous event, because the model has worked on it since then. The first item starts with the
 * run, so its length shows how long the agent took to start. A running tool and an open question are open.
 */
export function measureBar(
  { events, times, findClosingEvent: findClosing }: Pick<Conversation, 'events' | 'times' | 'findClosingEvent'>,
  item: Item,
  eventCount: number,
  { start, end: now }: Readonly<{ start: number; end: number }>,
) {
  const first = item.events[0] ?? 0;
  const last = item.events[findFirstAbove(item.events, eventCount - 1) - 1] ?? first;
  const from = times[first] ?? now;
  const to = times[last] ?? from;
  const { type } = item;
  if (first === 0) return { from: Math.min(start, from), to, isOpen: false };
  if (type === 'assistant.tool_call') {
    const event = events[last];
    const isOpen = event?.type === 'assistant.tool_call' && event.data.status === 'started';
    const ended = Math.max(to, from);
    return isOpen ? { from, to: now, isOpen } : { from: ended - measureCall(event, ended - from), to: ended, isOpen };
  }
  if (type === 'user.input.required' || type === 'permission.required') {
    const closing = findClosing(first);
    const isOpen = closing >= eventCount;
    return { from, to: isOpen ? now : (times[closing] ?? to), isOpen };
  }
  const isModelOutput = type.startsWith('assistant.message.') || type === 'assistant.reasoning';
  const isSameAttempt = events[first - 1]?.meta.attempt === events[first]?.meta.attempt;
  if (!isModelOutput || !isSameAttempt) return { from, to, isOpen: false };
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

const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
] as const;

/** Lists at most seven labels, at round times, for an axis of this length. */
export function listMarks(lengthMs: number): readonly Readonly<{ at: number; ms: number }>[] {
  if (lengthMs <= 0) return [{ at: 0, ms: 0 }];
  const step = STEPS_MS.find((ms) => lengthMs / ms <= 6) ?? lengthMs / 6;
  return Array.from({ length: Math.floor(lengthMs / step) + 1 }, (_, index) => ({
    at: (index * step) / lengthMs,
    ms: index * step,
  }));
}
