import type { Budget, ScheduleTick, ScheduleView } from '../../../src/store/records/index.js';
import { getServerTime } from '../../data/client.js';
import { Badge, labelState } from '../../ui/badge.js';
import { formatWait, Timestamp } from '../../ui/format.js';
import type { Tone } from '../../ui/notice.js';
import { SafeText } from '../../ui/safe-text.js';
import '../workers/workers.css';
import { t } from './texts.js';

const TICK_TONES: Readonly<Record<ScheduleTick['action'], Tone>> = {
  submitted: 'good',
  repeated: 'plain',
  skipped: 'plain',
  queued: 'plain',
  failed: 'bad',
};

/** The result of a schedule's last tick. */
export function LastTick({ tick }: { readonly tick: ScheduleTick | null }) {
  if (tick === null) return <span class="dim">{t.notRunYet}</span>;
  return (
    <span>
      <Badge tone={TICK_TONES[tick.action]}>{labelState(tick.action)}</Badge> <Timestamp at={tick.at} />{' '}
      <SafeText as="span" class="dim" text={tick.why} limit={200} />
    </span>
  );
}

function Due({ at }: Readonly<{ at: string }>) {
  return (
    <span>
      <Timestamp at={at} /> <span class="dim">{t.dueIn(formatWait(Date.parse(at) - getServerTime()))}</span>
    </span>
  );
}

/** When a schedule is due next, or who paused it. */
export function NextTick({ schedule: { next_at, paused } }: { readonly schedule: ScheduleView }) {
  if (paused === null) return next_at === null ? <span class="dim">{t.neverDue}</span> : <Due at={next_at} />;
  return <SafeText text={t.pausedBy(paused.who, paused.why)} limit={200} />;
}

const TITLES: Readonly<Record<Budget['scope'], string>> = { day: t.today, issue: t.issue, caller: t.token };

/** Names a budget: `Today`, `Issue acme/shop#7`. */
export function nameBudget({ scope, name }: Pick<Budget, 'scope' | 'name'>): string {
  return name === '' ? TITLES[scope] : `${TITLES[scope]} ${name}`;
}

/** A bar that shows the used fraction. It is hidden from screen readers, because the numbers are next to it. */
export function Meter({ fraction, isWarning = false }: Readonly<{ fraction: number; isWarning?: boolean }>) {
  return (
    <span class={isWarning ? 'meter warn' : 'meter'} aria-hidden="true">
      <span style={{ width: `${Math.min(1, Math.max(0, fraction)) * 100}%` }} />
    </span>
  );
}
