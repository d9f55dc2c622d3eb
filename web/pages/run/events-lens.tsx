import { useState } from 'preact/hooks';
import type { RaspEvent } from '../../../src/events/index.js';
import { JsonTree } from '../../ui/json-tree.js';
import { SafeText } from '../../ui/safe-text.js';
import { VirtualList } from '../../ui/virtual-list.js';
import { Clock, findStart } from './clock.js';
import type { OpenRun } from './open-run.js';
import { createRowCache } from './row-cache.js';
import { firstAbove } from './sorted-search.js';
import { writeValue } from './value-text.js';

/** The engine's events, one by one. The selected one is shown in full. */
export function EventsLens({ run, isLive }: { readonly run: OpenRun; readonly isLive: boolean }) {
  void run.beats.events.value;
  const [cache] = useState(createRowCache);
  const { list } = run.lenses;
  const moment = run.moment.value;
  const light = run.light.value;
  const count = moment === null ? list.events.length : firstAbove(list.times, moment);
  const start = findStart(run);
  const choose = (index: number): void => {
    const event = list.events[index];
    if (event !== undefined) run.chosen.value = { lens: 'events', attempt: event.attempt_number, seq: event.seq };
  };
  const row = (index: number) => {
    const event = list.events[index];
    if (event === undefined) return null;
    const at = list.times[index] ?? start;
    const isLit = light !== null && (light.event === index || light.bytes.overlaps(event.raw_ref));
    const isOpen = light?.place.lens === 'events' && light.event === index;
    return cache(index, [event, start, isLit, isOpen], () => (
      <EventRow event={event} at={at} start={start} isLit={isLit} isOpen={isOpen} onChoose={() => choose(index)} />
    ));
  };
  if (count === 0) return <p class="lens-empty">{isLive ? 'No events yet.' : 'No events up to this moment.'}</p>;
  return (
    <VirtualList
      label="Events"
      count={count}
      estimate={53}
      row={row}
      target={moment === null ? (light?.event ?? null) : count - 1}
      active={light?.event ?? null}
      follow={isLive && moment === null}
      onMove={choose}
    />
  );
}

function EventRow({
  event,
  at,
  start,
  isLit,
  isOpen,
  onChoose,
}: {
  readonly event: RaspEvent;
  readonly at: number;
  readonly start: number;
  readonly isLit: boolean;
  readonly isOpen: boolean;
  readonly onChoose: () => void;
}) {
  return (
    <div class={`event ${event.event.category}${isLit ? ' lit' : ''}`}>
      <button type="button" class="choose event-head" tabIndex={-1} aria-pressed={isLit} onClick={onChoose}>
        <span class="event-line">
          <span class="dim">{event.attempt_number > 1 ? `${event.attempt_number}:${event.seq}` : event.seq}</span>
          <span class="event-type">{event.event.type}</span>
          <span class="end">
            <Clock at={at} start={start} />
          </span>
        </span>
        <span class="one-line">
          <SafeText text={summarizeEvent(event)} />
        </span>
      </button>
      {isOpen ? <JsonTree value={event} open={3} /> : null}
    </div>
  );
}

/** The maximum length of an event's summary line. */
const LONGEST = 240;

/** Fields that summarize an event, by name: unknown types are summarized too. */
const SUMMARY_FIELDS = ['text', 'message', 'prompt', 'path', 'name', 'status', 'state', 'reason_code', 'code'] as const;

/**
 * An event in one line: its text, or the most descriptive field of its data.
 *
 * @example
 * summarizeEvent(event) // 'shell: ls -l'
 */
export function summarizeEvent({ data }: RaspEvent): string {
  const fields = new Map<string, unknown>(Object.entries(data));
  const error = fields.get('error');
  if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string') {
    return oneLine(error.message);
  }
  const name = fields.get('name');
  const detail = fields.get('input') ?? error ?? fields.get('output');
  if (typeof name === 'string' && detail !== undefined) return oneLine(`${name}: ${writeValue(detail, LONGEST).text}`);
  for (const key of SUMMARY_FIELDS) {
    const value = fields.get(key);
    if (typeof value === 'string') return oneLine(value);
  }
  return oneLine(writeValue(data, LONGEST).text);
}

function oneLine(text: string): string {
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return short.replaceAll(/\s+/g, ' ').trim();
}
