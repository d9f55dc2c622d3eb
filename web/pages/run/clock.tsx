import type { OpenRun } from './open-run.js';

/** A moment of a run as the time since it began: `0:07.250`. The tooltip has the time of day. */
export function Clock({ at, start }: { readonly at: number | null; readonly start: number }) {
  if (at === null) return <span class="clock">·</span>;
  const moment = new Date(at).toISOString();
  return (
    <time class="clock" dateTime={moment} title={moment}>
      {formatOffset(at - start)}
    </time>
  );
}

/** Minutes, seconds and thousandths; hours where there are any. */
export function formatOffset(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  const hours = Math.floor(whole / 3_600_000);
  const minutes = Math.floor(whole / 60_000) % 60;
  const seconds = (whole % 60_000) / 1000;
  const tail = seconds.toFixed(3).padStart(6, '0');
  return hours === 0 ? `${minutes}:${tail}` : `${hours}:${String(minutes).padStart(2, '0')}:${tail}`;
}

/** When a run started: its own time, or that of an event with an earlier one. Times are shown relative to it. */
export function findStart({ span, lenses: { conversation, list } }: Timed): number {
  const never = Number.POSITIVE_INFINITY;
  return Math.min(span.value.start ?? never, list.times[0] ?? never, conversation.times[0] ?? never);
}

/** When a run ended: its own time, or that of a later event; so that the clock ends where the duration does. */
export function findEnd(run: Timed): number {
  const { conversation, list } = run.lenses;
  const never = Number.NEGATIVE_INFINITY;
  const last = Math.max(run.span.value.end ?? never, list.times.at(-1) ?? never, conversation.times.at(-1) ?? never);
  return last === never ? findStart(run) : last;
}

type Timed = Pick<OpenRun, 'span' | 'lenses'>;
