import { useState } from 'preact/hooks';
import type { RaspEvent } from '../../../src/events/index.js';
import { SafeText } from '../../ui/safe-text.js';
import { VirtualList } from '../../ui/virtual-list.js';
import { Clock } from './clock.js';
import { summarizeEvent } from './event-summary.js';
import type { OpenRun } from './open-run.js';
import { createRowCache } from './row-cache.js';
import { firstAbove } from './sorted-search.js';
import { startOf } from './start-of.js';
import { ValueText } from './value-text.js';

/** What the engine said, event by event. The chosen one is shown whole. */
export function EventsLens({ run, isLive }: { readonly run: OpenRun; readonly isLive: boolean }) {
  void run.beats.events.value;
  const [cache] = useState(createRowCache);
  const { list } = run.lenses;
  const moment = run.moment.value;
  const light = run.light.value;
  const count = moment === null ? list.events.length : firstAbove(list.times, moment);
  const start = startOf(run);
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
      target={light?.event ?? null}
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
      {isOpen ? <ValueText value={event} limit={4000} /> : null}
    </div>
  );
}
