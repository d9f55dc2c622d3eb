import { useState } from 'preact/hooks';
import { VirtualList } from '../../ui/virtual-list.js';
import { ConversationItem } from './conversation-item.js';
import { describeItem } from './describe-item.js';
import type { OpenRun } from './open-run.js';
import { createRowCache } from './row-cache.js';
import { firstAbove } from './sorted-search.js';
import { findStart } from './clock.js';

/** Messages, tool calls and questions in order. */
export function ConversationLens({ run, isLive }: { readonly run: OpenRun; readonly isLive: boolean }) {
  void run.beats.conversation.value;
  const [cache] = useState(createRowCache);
  const { conversation } = run.lenses;
  const moment = run.moment.value;
  const light = run.light.value;
  const eventCount = moment === null ? conversation.events.length : firstAbove(conversation.times, moment);
  const shown = run.filter.shown(conversation.itemsAt(eventCount));
  const { count } = shown;
  const start = findStart(run);
  // A replay shows what was known then.
  const isOver = moment === null && run.span.value.end !== null;

  const choose = (position: number): void => {
    const event = conversation.events[conversation.items[shown.itemAt(position)]?.events[0] ?? -1];
    if (event !== undefined) run.chosen.value = { lens: 'conversation', seq: event.seq };
  };
  const row = (position: number) => {
    const index = shown.itemAt(position);
    const item = conversation.items[index];
    if (item === undefined) return null;
    const isLit = light?.items.has(index) ?? false;
    const isLast = item.events[0] === eventCount - 1;
    const known = firstAbove(item.events, eventCount - 1);
    return cache(position, [item, known, isLast, isLit, isOver, start], () => {
      const view = describeItem(conversation, item, eventCount);
      if (view === null) return null;
      return (
        <ConversationItem
          runId={run.id}
          view={view}
          isOver={isOver}
          start={start}
          isLit={isLit}
          onChoose={() => choose(position)}
        />
      );
    });
  };
  if (count === 0) return <Empty isLive={isLive} isFiltered={run.filter.isOn.value} />;
  const own = light?.item ?? null;
  const place = own === null ? null : shown.positionOf(own);
  const active = place !== null && place < count && shown.itemAt(place) === own ? place : null;
  return (
    <VirtualList
      key={JSON.stringify(run.filter.query.value)}
      label="Conversation"
      count={count}
      estimate={55}
      row={row}
      target={moment === null ? active : count - 1}
      active={active}
      follow={isLive && moment === null}
      onMove={choose}
    />
  );
}

function Empty({ isLive, isFiltered }: { readonly isLive: boolean; readonly isFiltered: boolean }) {
  if (isFiltered) return <p class="lens-empty">Nothing matches.</p>;
  return (
    <p class="lens-empty">
      {isLive ? 'No messages yet. They appear here as they arrive.' : 'No messages up to this moment.'}
    </p>
  );
}
