import { truncate } from '../../src/base/index.js';

/** A time in short form; the tooltip has the exact time. */
export function Timestamp({ at }: Readonly<{ at: string | null }>) {
  if (at === null) return <span class="dim">–</span>;
  return (
    <time dateTime={at} title={at}>
      {formatMoment(at, new Date())}
    </time>
  );
}

/** Formats a time: without the date if that is the date of `now`. */
export function formatMoment(at: string, now: Date | null): string {
  const date = new Date(at);
  const minute = `${padTwo(date.getHours())}:${padTwo(date.getMinutes())}`;
  if (date.toDateString() === now?.toDateString()) return `${minute}:${padTwo(date.getSeconds())}`;
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

/** Formats the browser's time zone, for places where a day begins. */
export function formatTimeZone(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? '−' : '+'}${padTwo(hours)}:${padTwo(rest)}`;
}

/** Formats a day in the browser's time zone, as date fields require. */
export function formatDay(date: Date): string {
  return formatMoment(date.toISOString(), null).slice(0, 10);
}

/** Formats a whole number in groups of three digits. */
export function formatCount(count: number): string {
  // Creating the browser's own formatter would delay page load by ten milliseconds.
  return String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Formats a byte count: `12 bytes`, `3.4 kB`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  let [amount, unit] = [bytes / 1000, 0];
  while (roundsToThousand(amount) && unit < UNITS.length - 1) [amount, unit] = [amount / 1000, unit + 1];
  return `${amount.toFixed(1)} ${UNITS[unit] ?? ''}`;
}

const UNITS = ['kB', 'MB', 'GB'] as const;

/** Whether an amount with one decimal is shown as 1000.0 or more, and therefore needs the next unit. */
function roundsToThousand(amount: number): boolean {
  return Number(amount.toFixed(1)) >= 1000;
}

interface Usage {
  readonly input_tokens?: number | undefined;
  readonly output_tokens?: number | undefined;
  readonly cached_input_tokens?: number | undefined;
  readonly cost?: number | undefined;
}

/** Formats tokens and cost; empty if nothing is known. */
export function formatUsage(usage: Usage | null | undefined): string {
  if (usage === null || usage === undefined) return '';
  const { input_tokens, output_tokens, cached_input_tokens = 0, cost } = usage;
  const parts = [
    input_tokens === undefined ? [] : `${formatCount(input_tokens)} in`,
    cached_input_tokens > 0 ? `${formatCount(cached_input_tokens)} cached` : [],
    output_tokens === undefined ? [] : `${formatCount(output_tokens)} out`,
    cost === undefined ? [] : `$${cost.toFixed(4)}`,
  ];
  return parts.flat().join(' · ');
}

/** Formats US dollars with cents, and with more digits for less than a cent. */
export function formatMoney(dollars: number): string {
  if (dollars === 0) return '$0';
  if (Number(dollars.toFixed(4)) < 0.01) return `$${dollars.toFixed(4)}`;
  const [whole = '0', cents = '00'] = dollars.toFixed(2).split('.');
  return `$${formatCount(Number(whole))}.${cents}`;
}

/** Formats a total of costs. It is a lower bound if a part of it is not reported, and unknown if all of it is not. */
export function formatCost(dollars: number, { isComplete }: { readonly isComplete: boolean }): string {
  if (isComplete) return formatMoney(dollars);
  return dollars === 0 ? '–' : `≥ ${formatMoney(dollars)}`;
}

/** Formats a large number compactly: `950`, `12.3k`, `4.5M`. */
export function formatShort(count: number): string {
  if (Math.round(count) < 1000) return String(Math.round(count));
  const thousands = count / 1000;
  return roundsToThousand(thousands) ? `${(thousands / 1000).toFixed(1)}M` : `${thousands.toFixed(1)}k`;
}

/** Puts text on one line, cut at a length. */
export function toOneLine(text: string, length = Infinity): string {
  return truncate(
    text
      .slice(0, length * 2)
      .replaceAll(/\s+/g, ' ')
      .trim(),
    length,
  );
}
