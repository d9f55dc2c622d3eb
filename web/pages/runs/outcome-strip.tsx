import { useSignal } from '@preact/signals';
import type { TargetedKeyboardEvent } from 'preact';
import type { StatisticsView } from '../../../src/server/api/index.js';
import { query, setQuery } from '../../app/router.js';
import { client } from '../../data/client.js';
import { buildStatisticsQuery, selectEngine } from '../../data/period.js';
import { useResource } from '../../data/resource.js';
import { formatCount, formatMoment } from '../../ui/text.js';
import { t } from './texts.js';

const LENGTH_S = 7 * 86_400;
const STEP_S = 3 * 3600;
const RELOAD_MS = 60_000;
const BAR_COUNT = LENGTH_S / STEP_S;

type Bar = ReturnType<typeof listBars>[number];

export function listBars({ buckets, step_s }: StatisticsView) {
  return buckets.map(({ at, runs }) => {
    const bar = { success: 0, failed: 0, other: 0 };
    for (const { outcomes } of runs) {
      bar.success += outcomes.success;
      bar.failed += outcomes.failed;
      bar.other += outcomes.canceled + outcomes.comment;
    }
    return { from: at, to: new Date(Date.parse(at) + step_s * 1000).toISOString(), ...bar };
  });
}

/** The outcomes of the last days. Dragging over bars, or Shift and the arrow keys, selects the runs that ended then. */
export function OutcomeStrip() {
  const statistics = useResource(
    'outcomes',
    async (signal) => client.readStatistics({ query: buildStatisticsQuery(LENGTH_S, STEP_S, Date.now()), signal }),
    { everyMs: RELOAD_MS },
  );
  const bars = statistics.value === null ? [] : listBars(selectEngine(statistics.value, query.value.get('engine')));
  const sum = (read: (bar: Bar) => number): number => bars.reduce((total, bar) => total + read(bar), 0);
  const failed = sum((bar) => bar.failed);
  const total = failed + sum((bar) => bar.success + bar.other);
  return (
    <div class="outcome-strip">
      <p>
        <strong>{bars.length === 0 ? ' ' : t.endedFailed(formatCount(total), formatCount(failed))}</strong>
        {t.in7DaysDragTo}
      </p>
      <Bars bars={bars} />
    </div>
  );
}

function Bars({ bars }: Readonly<{ bars: readonly Bar[] }>) {
  const anchor = useSignal<number | null>(null);
  const end = useSignal<number | null>(null);
  const focused = useSignal(BAR_COUNT - 1);
  const highest = Math.max(1, ...bars.map(({ success, failed, other }) => success + failed + other));
  const [since, until] = [query.value.get('ended_since') ?? '', query.value.get('ended_until') ?? ''];
  const isDragged = anchor.value !== null && end.value !== null;
  const [first, last] = [Math.min(anchor.value ?? 0, end.value ?? 0), Math.max(anchor.value ?? 0, end.value ?? 0)];
  const isChosen = ({ from, to }: Bar, index: number): boolean =>
    isDragged ? index >= first && index <= last : from < until && to > since;
  const select = (): void => {
    const [start, stop] = [bars[first], bars[last]];
    if (isDragged && start !== undefined && stop !== undefined)
      setQuery({ ended_since: start.from, ended_until: stop.to }, { isStep: true });
    anchor.value = null;
    end.value = null;
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    if (event.shiftKey) anchor.value ??= focused.value;
    else anchor.value = null;
    focused.value = Math.max(0, Math.min(bars.length - 1, focused.value + step));
    end.value = anchor.value === null ? null : focused.value;
    const { children } = event.currentTarget;
    const target = children[focused.value];
    if (target instanceof HTMLElement) target.focus();
  };
  return (
    <div
      class="outcome-bars"
      role="group"
      aria-label={t.endedRunsByTime}
      onKeyDown={onKeyDown}
      onKeyUp={({ key }) => (key === 'Shift' ? select() : undefined)}
      onPointerUp={select}
      onPointerLeave={select}
      onPointerCancel={() => (anchor.value = null)}
    >
      {bars.map((bar, index) => (
        <button
          key={bar.from}
          type="button"
          tabIndex={index === Math.min(focused.value, bars.length - 1) ? 0 : -1}
          aria-pressed={isChosen(bar, index)}
          aria-label={describeBar(bar)}
          title={describeBar(bar)}
          onPointerDown={(event) => {
            event.currentTarget.releasePointerCapture(event.pointerId);
            [anchor.value, end.value] = [index, index];
          }}
          onPointerEnter={() => (anchor.value === null ? undefined : (end.value = index))}
          onClick={() => setQuery({ ended_since: bar.from, ended_until: bar.to }, { isStep: true })}
        >
          {(['failed', 'other', 'success'] as const).map((kind) =>
            bar[kind] === 0 ? null : (
              <span key={kind} class={kind} style={{ height: `${Math.max(4, (bar[kind] / highest) * 100)}%` }} />
            ),
          )}
        </button>
      ))}
    </div>
  );
}

function describeBar({ from, success, failed, other }: Bar): string {
  const counts = [t.succeeded(success), t.failed(failed), ...(other === 0 ? [] : [t.other(other)])];
  return `${formatMoment(from, null)}: ${counts.join(', ')}`;
}
