import { signal } from '@preact/signals';
import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import { formatCount } from '../../ui/format.js';
import { ConversationPane } from './conversation-pane.js';
import { EventsPane } from './events-pane.js';
import { countPaneRows } from './highlight.js';
import type { OpenRun } from './open-run.js';
import { RawPane } from './raw-pane.js';
import { TimelinePane } from './timeline-pane.js';
import { useRef } from 'preact/hooks';

const PANES = [
  { name: 'timeline', title: 'Timeline', view: TimelinePane },
  { name: 'conversation', title: 'Conversation', view: ConversationPane },
  { name: 'events', title: 'Events', view: EventsPane },
  { name: 'raw', title: 'Raw bytes', view: RawPane },
] as const;

type PaneName = (typeof PANES)[number]['name'];

/** The open panes, their relative widths, and the pane to show when only one fits. */
const openPanes = signal<readonly PaneName[]>(['timeline', 'conversation', 'events', 'raw']);
const widths = signal<Readonly<Record<'conversation' | 'bytes', number>>>({ conversation: 1.25, bytes: 1 });
const frontPane = signal<PaneName>('conversation');

/** The buttons that open and close panes; on a narrow screen, tabs. */
export function PaneSwitch({ run }: Readonly<{ run: OpenRun }>) {
  const areTabs = isNarrow.value;
  const toggle = (name: PaneName): void => {
    const next = PANES.map((pane) => pane.name).filter((one) => openPanes.value.includes(one) !== (one === name));
    if (next.length > 0) openPanes.value = next;
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0 || !areTabs) return;
    const at = PANES.findIndex(({ name }) => name === frontPane.value);
    frontPane.value = PANES[(at + step + PANES.length) % PANES.length]?.name ?? frontPane.value;
    event.currentTarget.querySelector<HTMLElement>(`#tab-${frontPane.value}`)?.focus();
  };
  return (
    <div class="run-pane-switch" role={areTabs ? 'tablist' : 'group'} aria-label="Panes" onKeyDown={onKeyDown}>
      {PANES.map(({ name, title }) => {
        const isFront = frontPane.value === name;
        const tab = { id: `tab-${name}`, role: 'tab', 'aria-controls': `run-pane-${name}` } as const;
        const state = areTabs
          ? {
              ...tab,
              'aria-selected': isFront,
              tabIndex: isFront ? 0 : -1,
              onClick: () => void (frontPane.value = name),
            }
          : { 'aria-pressed': openPanes.value.includes(name), onClick: () => toggle(name) };
        return (
          <button key={name} type="button" {...state}>
            {title} <Count run={run} name={name} />
          </button>
        );
      })}
    </div>
  );
}

function Count({ run, name }: Readonly<{ run: OpenRun; name: PaneName }>) {
  void run.redraws.page.value;
  return <span class="run-pane-count">{formatCount(countPaneRows(run.data, name, run.replayTime.value))}</span>;
}

/** The timeline over the full width; below it, the conversation next to events and raw bytes. Escape deselects. */
export function Panes({ run, isLive }: Readonly<{ run: OpenRun; isLive: boolean }>) {
  const isSinglePane = isNarrow.value;
  const visiblePanes = PANES.filter(({ name }) =>
    isSinglePane ? frontPane.value === name : openPanes.value.includes(name),
  );
  const draw = (names: readonly PaneName[]): ComponentChildren[] =>
    visiblePanes.flatMap(({ name, view: View }) =>
      names.includes(name)
        ? [
            <div
              key={name}
              id={`run-pane-${name}`}
              class="run-pane"
              {...(isSinglePane ? { role: 'tabpanel', 'aria-labelledby': `tab-${name}` } : {})}
            >
              <View run={run} isLive={isLive} />
            </div>,
          ]
        : [],
    );
  const timeline = draw(['timeline']);
  const conversation = draw(['conversation']);
  const bytes = draw(['events', 'raw']);
  const onKeyDown = ({ key }: KeyboardEvent): void => {
    if (key === 'Escape') run.selection.value = null;
  };
  return (
    <div class="run-panes" onKeyDown={onKeyDown}>
      {timeline.length === 0 ? null : (
        <div class={conversation.length + bytes.length === 0 ? 'run-pane-band whole' : 'run-pane-band'}>{timeline}</div>
      )}
      {conversation.length + bytes.length === 0 ? null : (
        <div class="run-pane-columns">
          {conversation.length === 0 ? null : (
            <div class="run-pane-column" style={{ flexGrow: widths.value.conversation }}>
              {conversation}
            </div>
          )}
          {conversation.length === 0 || bytes.length === 0 ? null : <PaneDivider />}
          {bytes.length === 0 ? null : (
            <div class="run-pane-column" style={{ flexGrow: widths.value.bytes }}>
              {bytes}
            </div>
          )}
        </div>
      )}
    </div>
  );
}

/** Null in tests, which have no screen. */
const narrowScreen = typeof matchMedia === 'function' ? matchMedia('(max-width: 64rem)') : null;

const isNarrow = signal(narrowScreen?.matches ?? false);

narrowScreen?.addEventListener('change', ({ matches }) => (isNarrow.value = matches));

/** The divider between the conversation and the bytes. It can be dragged, or moved with the arrow keys. */
function PaneDivider() {
  const divider = useRef<HTMLDivElement>(null);
  const sum = widths.value.conversation + widths.value.bytes;
  const fraction = widths.value.conversation / sum;
  const setFraction = (next: number): void => {
    const { left, right } = divideWidth(sum, next);
    widths.value = { conversation: left, bytes: right };
  };
  const drag = (event: PointerEvent): void => {
    const before = divider.current?.previousElementSibling?.getBoundingClientRect();
    const after = divider.current?.nextElementSibling?.getBoundingClientRect();
    if (before === undefined || after === undefined || !(divider.current?.hasPointerCapture(event.pointerId) ?? false))
      return;
    setFraction((event.clientX - before.left) / (after.right - before.left));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 0.05 : event.key === 'ArrowLeft' ? -0.05 : 0;
    if (step === 0) return;
    event.preventDefault();
    setFraction(fraction + step);
  };
  return (
    <div
      ref={divider}
      class="run-pane-divider"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the conversation pane"
      aria-valuenow={Math.round(fraction * 100)}
      aria-valuemin={0}
      aria-valuemax={100}
      tabIndex={0}
      onPointerDown={(event) => divider.current?.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={onKeyDown}
    />
  );
}

/** Neither of two neighbours becomes narrower than this fraction of their combined width. */
const MIN_FRACTION = 0.15;

/** Divides the combined width of two neighbours. */
export function divideWidth(sum: number, fraction: number): { readonly left: number; readonly right: number } {
  const left = sum * Math.min(1 - MIN_FRACTION, Math.max(MIN_FRACTION, fraction));
  return { left, right: sum - left };
}
