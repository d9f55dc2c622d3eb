import { signal } from '@preact/signals';
import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import { formatCount } from '../../ui/amount.js';
import { ConversationLens } from './conversation-lens.js';
import { EventsLens } from './events-lens.js';
import { LensDivider } from './lens-divider.js';
import { countLens } from './highlight.js';
import type { OpenRun } from './open-run.js';
import { RawLens } from './raw-lens.js';
import { TimelineLens } from './timeline-lens.js';

const LENSES = [
  { name: 'timeline', title: 'Timeline', view: TimelineLens },
  { name: 'conversation', title: 'Conversation', view: ConversationLens },
  { name: 'events', title: 'Events', view: EventsLens },
  { name: 'raw', title: 'Raw bytes', view: RawLens },
] as const;

type LensName = (typeof LENSES)[number]['name'];

/** The open lenses, their relative widths, and the one to show if there is room for only one. */
const open = signal<readonly LensName[]>(['timeline', 'conversation', 'events', 'raw']);
const widths = signal<Readonly<Record<'conversation' | 'bytes', number>>>({ conversation: 1.25, bytes: 1 });
const front = signal<LensName>('conversation');

/** The buttons that open and close lenses; on a narrow screen, tabs. */
export function LensSwitch({ run }: { readonly run: OpenRun }) {
  if (isNarrow.value) return <LensTabs run={run} />;
  const toggle = (name: LensName): void => {
    const next = LENSES.map((lens) => lens.name).filter((one) => open.value.includes(one) !== (one === name));
    if (next.length > 0) open.value = next;
  };
  return (
    <div class="lens-switch" role="group" aria-label="Lenses">
      {LENSES.map(({ name, title }) => (
        <button key={name} type="button" aria-pressed={open.value.includes(name)} onClick={() => toggle(name)}>
          {title} <Count run={run} name={name} />
        </button>
      ))}
    </div>
  );
}

function LensTabs({ run }: { readonly run: OpenRun }) {
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const at = LENSES.findIndex(({ name }) => name === front.value);
    front.value = LENSES[(at + step + LENSES.length) % LENSES.length]?.name ?? front.value;
    event.currentTarget.querySelector<HTMLElement>(`#tab-${front.value}`)?.focus();
  };
  return (
    <div class="lens-switch" role="tablist" aria-label="Lenses" onKeyDown={onKeyDown}>
      {LENSES.map(({ name, title }) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          aria-selected={front.value === name}
          aria-controls={`lens-${name}`}
          tabIndex={front.value === name ? 0 : -1}
          onClick={() => (front.value = name)}
        >
          {title} <Count run={run} name={name} />
        </button>
      ))}
    </div>
  );
}

/** The number of rows of a lens, at the replayed moment. */
function Count({ run, name }: { readonly run: OpenRun; readonly name: LensName }) {
  void run.redraws.page.value;
  return <span class="lens-count">{formatCount(countLens(run.lenses, name, run.moment.value))}</span>;
}

/**
 * The lenses: the timeline over the full width, below it the conversation next to events and raw bytes. A selection in one
 * is highlighted in the others; Escape clears it.
 */
export function Lenses({ run, isLive }: { readonly run: OpenRun; readonly isLive: boolean }) {
  const narrow = isNarrow.value;
  const shown = LENSES.filter(({ name }) => (narrow ? front.value === name : open.value.includes(name)));
  const draw = (names: readonly LensName[]): ComponentChildren[] =>
    shown.flatMap(({ name, view: View }) =>
      names.includes(name)
        ? [
            <div
              key={name}
              id={`lens-${name}`}
              class="lens"
              {...(narrow ? { role: 'tabpanel', 'aria-labelledby': `tab-${name}` } : {})}
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
    if (key === 'Escape') run.chosen.value = null;
  };
  return (
    <div class="lenses" onKeyDown={onKeyDown}>
      {timeline.length === 0 ? null : (
        <div class={conversation.length + bytes.length === 0 ? 'lens-band whole' : 'lens-band'}>{timeline}</div>
      )}
      {conversation.length + bytes.length === 0 ? null : (
        <div class="lens-columns">
          {conversation.length === 0 ? null : (
            <div class="lens-column" style={{ flexGrow: widths.value.conversation }}>
              {conversation}
            </div>
          )}
          {conversation.length === 0 || bytes.length === 0 ? null : (
            <LensDivider widths={widths} left="conversation" right="bytes" />
          )}
          {bytes.length === 0 ? null : (
            <div class="lens-column" style={{ flexGrow: widths.value.bytes }}>
              {bytes}
            </div>
          )}
        </div>
      )}
    </div>
  );
}

const narrowScreen = matchMedia('(max-width: 64rem)');

/** Whether there is room for one lens only. */
const isNarrow = signal(narrowScreen.matches);

narrowScreen.addEventListener('change', ({ matches }) => (isNarrow.value = matches));
