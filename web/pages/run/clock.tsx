import type { OpenRun } from './open-run.js';

/** Shows a time as the offset from the run's start: `0:07.250`. The tooltip has the time of day. */
export function Clock({ at, start }: Readonly<{ at: number | null; start: number }>) {
  if (at === null) return <span class="clock">·</span>;
  const isoTime = new Date(at).toISOString();
  return (
    <time class="clock" dateTime={isoTime} title={isoTime}>
      {formatOffset(at - start)}
    </time>
  );
}

/** Formats minutes, seconds and milliseconds, and hours if nonzero. */
export function formatOffset(ms: number): string {
  const rounded = Math.max(0, Math.round(ms));
  const hours = Math.floor(rounded / 3_600_000);
  const minutes = Math.floor(rounded / 60_000) % 60;
  const seconds = (rounded % 60_000) / 1000;
  const tail = seconds.toFixed(3).padStart(6, '0');
  return hours === 0 ? `${minutes}:${tail}` : `${hours}:${String(minutes).padStart(2, '0')}:${tail}`;
}

/** Returns the run's start, or the time of its first event if that is earlier. Times are shown relative to it. */
export function findStart({ span, data: { conversation, list } }: Timed): number {
  const never = Number.POSITIVE_INFINITY;
  return Math.min(span.value.start ?? never, list.times[0] ?? never, conversation.times[0] ?? never);
}

/** Returns the run's end, or the time of its last event if that is later. */
export function findEnd(run: Timed): number {
  const { conversation, list } = run.data;
  const never = Number.NEGATIVE_INFINITY;
  const last = Math.max(run.span.value.end ?? never, list.times.at(-1) ?? never, conversation.times.at(-1) ?? never);
  return last === never ? findStart(run) : last;
}

type Timed = Pick<OpenRun, 'span' | 'data'>;
