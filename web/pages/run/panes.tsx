import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { RunView } from '../../../src/server/api/index.js';
import { formatCount, toOneLine, SafeText } from '../../ui/text.js';
import { ConversationPane } from './conversation-pane.js';
import { AttemptTabs, InspectorContent, InspectorTabs, useInspector } from './inspector.js';
import type { TabName } from './open-run.js';
import { TimelinePane } from './timeline-pane.js';
import type { RaspEvent } from '../../../src/events/index.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Clock, findStart, PaneList, type PaneProps } from './pane-list.js';
import { toValueRows } from '../workbench/inspection.js';
import { ROW_BYTES } from './raw-bytes.js';
import { Button } from '../../ui/parts.js';
import { t } from './texts.js';

/** The percentage of the width that the conversation has; the inspector has the rest. */
const share = signal((5 / 9) * 100);

/** A thin timeline above the conversation and the inspector; on a narrow screen, each is a tab. Escape deselects. */
export function Panes({ run, view, isLive }: PaneProps & Readonly<{ view: RunView }>) {
  const inspector = useInspector(run, view, isLive, isNarrow.value);
  const { tab } = inspector;
  const onKeyDown = ({ key }: KeyboardEvent): void => {
    if (key === 'Escape') run.selection.value = null;
  };
  const shared = { run, view, isLive };
  if (isNarrow.value) {
    return (
      <div class="run-panes" onKeyDown={onKeyDown}>
        <InspectorTabs run={run} {...inspector} />
        <AttemptTabs run={run} view={view} />
        <Panel {...shared} tab={tab} />
      </div>
    );
  }
  return (
    <div class="run-panes" onKeyDown={onKeyDown}>
      <div class="run-pane run-timeline">
        <TimelinePane run={run} isLive={isLive} />
      </div>
      <div class="run-pane-columns">
        <div class="run-pane-column" style={{ flexGrow: share.value }}>
          <AttemptTabs run={run} view={view} />
          <div class="run-pane">
            <ConversationPane run={run} isLive={isLive} />
          </div>
        </div>
        <PaneDivider />
        <section class="run-pane-column" aria-label={t.inspector} style={{ flexGrow: 100 - share.value }}>
          <InspectorTabs run={run} {...inspector} />
          <Panel {...shared} tab={tab} />
        </section>
      </div>
    </div>
  );
}

function Panel({ run, view, isLive, tab }: PaneProps & Readonly<{ view: RunView; tab: TabName }>) {
  const pane = { run, isLive };
  return (
    <div key={tab} id={`run-pane-${tab}`} class="run-pane" role="tabpanel" aria-labelledby={`tab-${tab}`}>
      {tab === 'conversation' ? (
        <ConversationPane {...pane} />
      ) : tab === 'timeline' ? (
        <TimelinePane {...pane} />
      ) : tab === 'event' ? (
        <EventsPane {...pane} />
      ) : tab === 'raw' ? (
        <RawPane {...pane} />
      ) : (
        <InspectorContent run={run} view={view} tab={tab} />
      )}
    </div>
  );
}

/** Null in tests, which have no screen. */
const narrowScreen = typeof matchMedia === 'function' ? matchMedia('(max-width: 64rem)') : null;
const isNarrow = signal(narrowScreen?.matches ?? false);

narrowScreen?.addEventListener('change', ({ matches }) => (isNarrow.value = matches));

/** The divider between the conversation and the inspector. It can be dragged, or moved with the arrow keys. */
function PaneDivider() {
  const divider = useRef<HTMLDivElement>(null);
  const drag = (event: PointerEvent): void => {
    const before = divider.current?.previousElementSibling?.getBoundingClientRect();
    const after = divider.current?.nextElementSibling?.getBoundingClientRect();
    if (before === undefined || after === undefined || !(divider.current?.hasPointerCapture(event.pointerId) ?? false))
      return;
    share.value = limitShare(((event.clientX - before.left) / (after.right - before.left)) * 100);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 5 : event.key === 'ArrowLeft' ? -5 : 0;
    if (step === 0) return;
    event.preventDefault();
    share.value = limitShare(share.value + step);
  };
  return (
    <div
      ref={divider}
      class="run-pane-divider"
      role="separator"
      aria-orientation="vertical"
      aria-label={t.widthOfTheConversationPane}
      aria-valuenow={Math.round(share.value)}
      aria-valuemin={0}
      aria-valuemax={100}
      tabIndex={0}
      onPointerDown={(event) => divider.current?.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={onKeyDown}
    />
  );
}

/** Neither of the two becomes narrower than this percentage of their combined width. */
const MIN_SHARE = 15;

export function limitShare(percentage: number): number {
  return Math.min(100 - MIN_SHARE, Math.max(MIN_SHARE, percentage));
}

/** The engine's events, one by one. The selected event is shown in full. */
export function EventsPane({ run, isLive }: PaneProps) {
  void run.redraws.events.value;
  const { list } = run.data;
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
      label={t.events}
      noun="events"
      estimate={53}
      count={list.count(run.replayTime.value)}
      selected={highlight?.event ?? null}
      onChoose={onChoose}
      row={(index) => {
        const event = list.events[index];
        if (event === undefined) return null;
        const { attempt_number: attempt, seq } = event;
        const at = list.times[index] ?? start;
        const isOpen = highlight?.event === index;
        const isHighlighted = isOpen || highlight?.bytes.overlaps(event.raw_ref) === true;
        const choose = { tabIndex: -1, 'aria-pressed': isHighlighted, onClick: () => onChoose(index) };
        const draw = () => (
          <div class={`event ${event.event.category}${isHighlighted ? ' highlighted' : ''}`}>
            <button type="button" class="choose event-head" {...choose}>
              <span class="event-line">
                <span class="dim">{attempt > 1 ? `${attempt}:${seq}` : seq}</span>
                <span class="event-type one-line">{event.event.type}</span>
                <span class="end">
                  <Clock at={at} start={start} />
                </span>
              </span>
              <SafeText as="span" class="one-line" text={summarizeEvent(event)} />
            </button>
            {isOpen ? <JsonTree value={event} open={3} /> : null}
          </div>
        );
        return [[event, at, start, isHighlighted, isOpen], draw];
      }}
    />
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
    return toOneLine(`${name}: ${formatStart(detail)}`, MAX_SUMMARY_LENGTH);
  for (const key of SUMMARY_FIELDS) {
    const value = fields.get(key);
    if (typeof value === 'string') return toOneLine(value, MAX_SUMMARY_LENGTH);
  }
  return toOneLine(formatStart(data), MAX_SUMMARY_LENGTH);
}

/** Formats the start of a value as JSON, or a string unchanged: tools print megabytes. */
function formatStart(value: unknown): string {
  if (typeof value === 'string') return value;
  const { rows } = toValueRows(value, [], { rows: MAX_SUMMARY_LENGTH, characters: MAX_SUMMARY_LENGTH });
  return rows.map(({ key, text }) => (key === null ? text : `${key}: ${text}`)).join(' ');
}

const PREVIEW_BYTES = 240;

/** The agent's captured output, frame by frame. The first selected row is shown in full. */
export function RawPane({ run, isLive }: PaneProps) {
  void run.redraws.raw.value;
  const { rows } = run.data;
  const problems = run.blocks.problems();
  const highlight = run.highlight.value;
  const start = findStart(run);
  const onChoose = (index: number): void => {
    const { attempt_number, stream, byte_from, byte_to } = rows.row(index);
    run.selection.value = { pane: 'raw', attempt_number, stream, byte_from, byte_to };
  };
  return (
    <div class="raw-pane">
      <PaneList
        run={run}
        isLive={isLive}
        label={t.rawBytes}
        noun="bytes"
        estimate={67}
        count={rows.count(run.replayTime.value)}
        selected={highlight?.row ?? null}
        onChoose={onChoose}
        row={(index) => {
          const row = rows.row(index);
          const isHighlighted = highlight?.bytes.overlaps(row) ?? false;
          const isOpen = highlight?.row === index;
          const text = run.blocks.text(row, isOpen ? ROW_BYTES : PREVIEW_BYTES);
          const length = row.byte_to - row.byte_from;
          const choose = { tabIndex: -1, 'aria-pressed': isHighlighted, onClick: () => onChoose(index) };
          const draw = () => (
            <div class={`raw-row ${row.stream}${isHighlighted ? ' highlighted' : ''}${isOpen ? ' open' : ''}`}>
              <button type="button" class="choose raw-head" {...choose}>
                <span class="raw-stream">
                  {row.stream}
                  {row.attempt_number > 1 ? ` ${row.attempt_number}` : ''}
                </span>
                <span class="dim">
                  {formatCount(row.byte_from)} + {formatCount(length)}
                </span>
                <span class="end">
                  {row.at === null ? <span class="dim">{t.noEvent}</span> : <Clock at={row.at} start={start} />}
                </span>
              </button>
              <pre class="raw-text">
                {text.state === 'loaded' ? (
                  <SafeText text={text.text} />
                ) : (
                  <span class="dim">{NOT_LOADED[text.state]}</span>
                )}
                {text.state === 'loaded' && !isOpen && length > PREVIEW_BYTES ? <span class="dim"> …</span> : null}
              </pre>
            </div>
          );
          return [[start, isHighlighted, isOpen, ...Object.values(text)], draw];
        }}
      />
      {/* Why bytes cannot be read, once for each reason and below the rows, so the rows do not move. */}
      <div class="raw-problems" role="status" hidden={problems.length === 0}>
        {problems.map((problem) => (
          <p key={problem}>
            <SafeText text={problem} />
          </p>
        ))}
        {problems.length === 0 ? null : <Button label={t.tryAgain} onClick={run.blocks.retry} />}
      </div>
    </div>
  );
}

const NOT_LOADED = {
  loading: '…',
  truncated: t.theCapturedFileEndsBefore,
  unreadable: t.notAvailable,
} as const;
