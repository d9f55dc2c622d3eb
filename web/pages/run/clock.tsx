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

/** The time of the first event; times are shown relative to it. */
export function findStart({ lenses: { conversation, list } }: OpenRun): number {
  return Math.min(list.times[0] ?? Number.POSITIVE_INFINITY, conversation.times[0] ?? Number.POSITIVE_INFINITY);
}

/** When the last event came; the same as the beginning before there are any. */
export function findEnd(run: OpenRun): number {
  const { conversation, list } = run.lenses;
  return Math.max(list.times.at(-1) ?? Number.NEGATIVE_INFINITY, conversation.times.at(-1) ?? findStart(run));
}
