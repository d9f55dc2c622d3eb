/** A time in short form; the tooltip has the exact time. */
export function Timestamp({ at }: { readonly at: string | null }) {
  if (at === null) return <span class="dim">–</span>;
  return (
    <time dateTime={at} title={at}>
      {formatMoment(at, new Date())}
    </time>
  );
}

/** Formats a time: without the date if it is today. */
export function formatMoment(at: string, now: Date): string {
  const date = new Date(at);
  const minute = `${padTwo(date.getHours())}:${padTwo(date.getMinutes())}`;
  if (date.toDateString() === now.toDateString()) return `${minute}:${padTwo(date.getSeconds())}`;
  return `${date.getFullYear()}-${padTwo(date.getMonth() + 1)}-${padTwo(date.getDate())} ${minute}`;
}

function padTwo(number: number): string {
  return String(number).padStart(2, '0');
}

/** Formats a duration in its two largest units: `1.2 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  const seconds = (ms / 1000).toFixed(1);
  if (Number(seconds) < 60) return `${seconds} s`;
  // 59.96 seconds are already shown as a minute.
  const minutes = Math.max(1, Math.floor(ms / 60_000));
  if (minutes < 60) return `${minutes} min ${Math.floor(Math.max(0, ms - minutes * 60_000) / 1000)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Formats a waiting time, coarse enough not to flicker: `< 1 min`, `17 min`, `5 h`, `3 d`. */
export function formatWait(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return '< 1 min';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/**
 * Formats a day in the browser's time zone, as date fields require.
 *
 * @example
 * formatDay(new Date(2026, 10, 15)) // '2026-11-15'
 */
export function formatDay(date: Date): string {
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
}
