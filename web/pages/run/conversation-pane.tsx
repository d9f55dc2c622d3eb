import { useState } from 'preact/hooks';
import { VirtualList } from '../../ui/virtual-list.js';
import { ConversationItem } from './conversation-item.js';
import { describeItem } from './describe-item.js';
import type { OpenRun } from './open-run.js';
import { createRowCache } from './row-cache.js';
import { findFirstAbove } from './sorted-search.js';
import { findStart } from './clock.js';

/** Messages, tool calls and questions in order. */
export function ConversationPane({ run, isLive }: { readonly run: OpenRun; readonly isLive: boolean }) {
  void run.redraws.conversation.value;
  const [cache] = useState(createRowCache);
  const { conversation } = run.data;
  const replayTime = run.replayTime.value;
  const highlight = run.highlight.value;
  const eventCount = replayTime === null ? conversation.events.length : findFirstAbove(conversation.times, replayTime);
  const visibleItems = run.filter.shown(conversation.countItems(eventCount));
  const { count } = visibleItems;
  const start = findStart(run);
  // A replay shows what was known at that time.
  const hasRunEnded = replayTime === null && run.span.value.end !== null;

  const choose = (position: number): void => {
    const event = conversation.events[conversation.items[visibleItems.itemAt(position)]?.events[0] ?? -1];
    if (event !== undefined) run.selection.value = { pane: 'conversation', seq: event.seq };
  };
  const row = (position: number) => {
    const index = visibleItems.itemAt(position);
    const item = conversation.items[index];
    if (item === undefined) return null;
    const isHighlighted = highlight?.items.has(index) ?? false;
    const isOpen = conversation.findClosingEvent(item.events[0] ?? 0) >= eventCount;
    const eventsSoFar = findFirstAbove(item.events, eventCount - 1);
    return cache(position, [item, eventsSoFar, isOpen, isHighlighted, hasRunEnded, start], () => {
      const view = describeItem(conversation, item, eventCount);
      if (view === null) return null;
      return (
        <ConversationItem
          runId={run.id}
          view={view}
          hasRunEnded={hasRunEnded}
          start={start}
          isHighlighted={isHighlighted}
          onChoose={() => choose(position)}
        />
      );
    });
  };
  if (count === 0) return <Empty isLive={isLive} isFiltered={run.filter.isOn.value} />;
  const selectedItem = highlight?.item ?? null;
  const position = selectedItem === null ? null : visibleItems.findPosition(selectedItem);
  const active =
    position !== null && position < count && visibleItems.itemAt(position) === selectedItem ? position : null;
  return (
    <VirtualList
      key={JSON.stringify(run.filter.query.value)}
      label="Conversation"
      count={count}
      estimate={55}
      row={row}
      target={replayTime === null ? active : count - 1}
      active={active}
      follow={isLive && replayTime === null}
      onMove={choose}
    />
  );
}

function Empty({ isLive, isFiltered }: { readonly isLive: boolean; readonly isFiltered: boolean }) {
  if (isFiltered) return <p class="run-pane-empty">No items match.</p>;
  return (
    <p class="run-pane-empty">
      {isLive ? 'No messages yet. They appear here as they arrive.' : 'No messages up to this point.'}
    </p>
  );
}
