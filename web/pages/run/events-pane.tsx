import type { RaspEvent } from '../../../src/events/index.js';
import { JsonTree, formatValue } from '../../ui/json-tree.js';
import { toOneLine } from '../../ui/format.js';
import { SafeText } from '../../ui/safe-text.js';
import { Clock, findStart } from './clock.js';
import { PaneList, type PaneProps } from './pane-list.js';
import { findFirstAbove } from './byte-ranges.js';

/** The engine's events, one by one. The selected event is shown in full. */
export function EventsPane({ run, isLive }: PaneProps) {
  void run.redraws.events.value;
  const { list } = run.data;
  const replayTime = run.replayTime.value;
  const highlight = run.highlight.value;
  const start = findStart(run);
  const onChoose = (index: number): void => {
    const event = list.events[index];
    if (event !== undefined) run.selection.value = { pane: 'events', attempt: event.attempt_number, seq: event.seq };
  };
  return (
    <PaneList
      run={run}
      isLive={isLive}
      label="Events"
      noun="events"
      estimate={53}
      count={replayTime === null ? list.events.length : findFirstAbove(list.times, replayTime)}
      selected={highlight?.event ?? null}
      onChoose={onChoose}
      row={(index) => {
        const event = list.events[index];
        if (event === undefined) return null;
        const isSelected = highlight?.event === index;
        const isHighlighted = isSelected || highlight?.bytes.overlaps(event.raw_ref) === true;
        const isOpen = isSelected && highlight.selection.pane === 'events';
        const props = { event, at: list.times[index] ?? start, start, isHighlighted, isOpen };
        return [Object.values(props), () => <EventRow {...props} onChoose={() => onChoose(index)} />];
      }}
    />
  );
}

function EventRow(
  props: Readonly<{
    event: RaspEvent;
    at: number;
    start: number;
    isHighlighted: boolean;
    isOpen: boolean;
    onChoose: () => void;
  }>,
) {
  const { event, at, start, isHighlighted, isOpen, onChoose } = props;
  return (
    <div class={`event ${event.event.category}${isHighlighted ? ' highlighted' : ''}`}>
      <button type="button" class="choose event-head" tabIndex={-1} aria-pressed={isHighlighted} onClick={onChoose}>
        <span class="event-line">
          <span class="dim">{event.attempt_number > 1 ? `${event.attempt_number}:${event.seq}` : event.seq}</span>
          <span class="event-type">{event.event.type}</span>
          <span class="end">
            <Clock at={at} start={start} />
          </span>
        </span>
        <SafeText as="span" class="one-line" text={summarizeEvent(event)} />
      </button>
      {isOpen ? <JsonTree value={event} open={3} /> : null}
    </div>
  );
}

const MAX_SUMMARY_LENGTH = 240;

/** The fields that summarize an event, in this order; they do not depend on its type, so unknown types have one too. */
const SUMMARY_FIELDS = ['text', 'message', 'prompt', 'path', 'name', 'status', 'state', 'reason_code', 'code'] as const;

/** Summarizes an event in one line: its text, or the most descriptive field of its data. */
export function summarizeEvent({ data }: RaspEvent): string {
  const fields = new Map<string, unknown>(Object.entries(data));
  const error = fields.get('error');
  if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string') {
    return toOneLine(error.message, MAX_SUMMARY_LENGTH);
  }
  const name = fields.get('name');
  const detail = fields.get('input') ?? error ?? fields.get('output');
  if (typeof name === 'string' && detail !== undefined)
    return toOneLine(`${name}: ${formatValue(detail, MAX_SUMMARY_LENGTH).text}`, MAX_SUMMARY_LENGTH);
  for (const key of SUMMARY_FIELDS) {
    const value = fields.get(key);
    if (typeof value === 'string') return toOneLine(value, MAX_SUMMARY_LENGTH);
  }
  return toOneLine(formatValue(data, MAX_SUMMARY_LENGTH).text, MAX_SUMMARY_LENGTH);
}
