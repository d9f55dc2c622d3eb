import { useState } from 'preact/hooks';
import { INVISIBLE_CHARACTERS, formatInvisible, truncate } from '../../src/base/index.js';
import { t } from '../app/texts.js';
import type { StatisticsView } from '../../src/server/api/index.js';
import { language } from '../app/language.js';

/** Longer content is truncated, with a button for more: a page does not scroll well with megabytes in one element. */
const MAX_INITIAL_LENGTH = 20_000;

/** Shows text from an agent. Invisible and direction-changing characters are made visible; nothing becomes HTML. */
export function SafeText(props: {
  readonly text: string;
  readonly limit?: number;
  readonly as?: 'code' | 'p' | 'pre' | 'span' | 'strong' | undefined;
  readonly class?: string;
}) {
  const { text, limit = MAX_INITIAL_LENGTH, as: Around, class: classes } = props;
  // Only long text needs a stateful component: most text is short, and its rows are created by the dozen.
  const shown = text.length > limit ? <LongText text={text} limit={limit} /> : <Shown text={text} />;
  const safe = <bdi class="safe">{shown}</bdi>;
  return Around === undefined ? safe : <Around class={classes}>{safe}</Around>;
}

function LongText({ text, limit }: Readonly<{ text: string; limit: number }>) {
  const [shown, setShown] = useState(limit);
  if (text.length <= shown) return <Shown text={text} />;
  return (
    <>
      <Shown text={text.slice(0, shown)} />
      <MoreCharacters count={text.length - shown} onClick={() => setShown(shown * 4)} />
    </>
  );
}

export function MoreCharacters({ count, onClick }: Readonly<{ count: number; onClick: () => void }>) {
  return (
    <button type="button" class="link" onClick={onClick}>
      {t.moreCharacters(formatCount(count))}
    </button>
  );
}

function Shown({ text }: Readonly<{ text: string }>) {
  return (
    <>
      {makeVisible(text).map((fragment, index) =>
        typeof fragment === 'string' ? (
          fragment
        ) : (
          <span key={index} class="acting" title={fragment.name}>
            {fragment.shown}
          </span>
        ),
      )}
    </>
  );
}

/** A fragment: unchanged text, or a visible replacement for an invisible or direction-changing character. */
type TextFragment = string | Readonly<{ shown: string; name: string }>;

/** Splits text into displayable parts and characters that must be made visible: an escape becomes `␛[31m`. */
export function makeVisible(text: string): readonly TextFragment[] {
  const fragments: TextFragment[] = [];
  let end = 0;
  for (const match of text.matchAll(INVISIBLE_CHARACTERS)) {
    const [character] = match;
    // A carriage return before a line feed is an ordinary line ending.
    if (character === '\r' && text[match.index + 1] === '\n') continue;
    if (match.index > end) fragments.push(text.slice(end, match.index));
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    fragments.push({ shown: formatInvisible(character), name: `U+${code}` });
    end = match.index + character.length;
  }
  if (end < text.length) fragments.push(text.slice(end));
  return fragments;
}

/** A time in short form; the tooltip has the exact time. */
export function Timestamp({ at }: Readonly<{ at: string | null }>) {
  if (at === null) return <span class="dim">–</span>;
  return (
    <time dateTime={at} title={at}>
      {formatMoment(at, new Date())}
    </time>
  );
}

/** Creates a formatter when it is first used: creating all of them would delay the first page. */
function lazily<Formatter>(create: () => Formatter): () => Formatter {
  let created: Formatter | undefined;
  return () => (created ??= create());
}

const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const DATE = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
const getTimes = lazily(() => new Intl.DateTimeFormat(t.dateLocale, { ...CLOCK, second: '2-digit' }));
const getMoments = lazily(() => new Intl.DateTimeFormat(t.dateLocale, { ...DATE, ...CLOCK }));

/** Formats a time: without the date if that is the date of `now`. */
export function formatMoment(at: string, now: Date | null): string {
  const date = new Date(at);
  // An invalid date cannot be formatted.
  if (Number.isNaN(date.getTime())) return at;
  return (date.toDateString() === now?.toDateString() ? getTimes() : getMoments()).format(date);
}

function padTwo(number: number): string {
  return String(number).padStart(2, '0');
}

/** Formats a duration in its two largest units: `1.2 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < 1000) return t.milliseconds(Math.round(ms));
  const seconds = (ms / 1000).toFixed(1);
  if (Number(seconds) < 60) return t.seconds(seconds);
  // 59.96 seconds are already shown as a minute.
  const minutes = Math.max(1, Math.floor(ms / 60_000));
  if (minutes < 60) return t.minutesSeconds(minutes, Math.floor(Math.max(0, ms - minutes * 60_000) / 1000));
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? t.hoursMinutes(hours, minutes % 60) : t.daysHours(Math.floor(hours / 24), hours % 24);
}

/** Formats a waiting time, coarse enough not to flicker: `< 1 min`, `17 min`, `5 h`, `3 d`. */
export function formatWait(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return minutes < 1 ? t.underAMinute : t.minutes(minutes);
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? t.hours(hours) : t.days(Math.floor(hours / 24));
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
  return `${date.getFullYear()}-${padTwo(date.getMonth() + 1)}-${padTwo(date.getDate())}`;
}

const getCounts = lazily(() => new Intl.NumberFormat(language, { maximumFractionDigits: 0 }));

export function formatCount(count: number): string {
  // Most counts are small, and need no formatter; an absurd one, from an agent, would have hundreds of digits.
  return Math.abs(count) < 999 || count > 1e21 ? String(Math.round(count)) : getCounts().format(count);
}

/** Formats a byte count: `12 bytes`, `3.4 kB`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return t.bytes(bytes);
  let [amount, unit] = [bytes / 1000, 0];
  while (roundsToThousand(amount) && unit < UNITS.length - 1) [amount, unit] = [amount / 1000, unit + 1];
  return `${amount.toFixed(1)} ${UNITS[unit] ?? ''}`;
}

const UNITS = ['kB', 'MB', 'GB'] as const;

/** Whether an amount with one decimal is shown as 1000.0 or more, and therefore needs the next unit. */
function roundsToThousand(amount: number): boolean {
  return Number(amount.toFixed(1)) >= 1000;
}

type Usage = Partial<Record<'input_tokens' | 'output_tokens' | 'cached_input_tokens' | 'cost', number | undefined>>;

/** Formats tokens and cost; empty if nothing is known. */
export function formatUsage(usage: Usage | null | undefined): string {
  if (usage === null || usage === undefined) return '';
  const { input_tokens, output_tokens, cached_input_tokens = 0, cost } = usage;
  const parts = [
    input_tokens === undefined ? [] : t.tokensIn(formatCount(input_tokens)),
    cached_input_tokens > 0 ? t.tokensCached(formatCount(cached_input_tokens)) : [],
    output_tokens === undefined ? [] : t.tokensOut(formatCount(output_tokens)),
    cost === undefined ? [] : getSmallAmounts().format(cost),
  ];
  return parts.flat().join(' · ');
}

const createAmounts = (minimumFractionDigits: number): Intl.NumberFormat =>
  new Intl.NumberFormat(language, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits,
    maximumFractionDigits: minimumFractionDigits,
  });
const getAmounts = lazily(() => createAmounts(2));
const getSmallAmounts = lazily(() => createAmounts(4));

/** Formats US dollars with cents, and with more digits for less than a cent. */
export function formatMoney(dollars: number): string {
  if (dollars === 0) return '$0';
  return (Number(dollars.toFixed(4)) < 0.01 ? getSmallAmounts() : getAmounts()).format(dollars);
}

/** A sum in US dollars: a lower bound if it is not complete, and approximate if a part of it is estimated. */
export type Cost = Readonly<{ value: number; isComplete: boolean; isEstimate?: boolean }>;

/** Formats a sum of costs, which is unknown if nothing of it is reported. */
export function formatCost({ value, isComplete, isEstimate = false }: Cost): string {
  if (isComplete) return isEstimate ? `≈ ${formatMoney(value)}` : formatMoney(value);
  return value === 0 ? '–' : `≥ ${formatMoney(value)}`;
}

type ModelUsage = Pick<
  StatisticsView['buckets'][number]['usage'][number],
  'cost' | 'unpriced_tokens' | 'estimated_cost'
>;

/** Whether a part of the cost is neither reported nor estimated. */
export function isUnpriced({ unpriced_tokens, estimated_cost }: ModelUsage): boolean {
  return unpriced_tokens > 0 && estimated_cost === null;
}

/** Adds up costs. Estimates count only if they make the sum complete: a lower bound has to be certain. */
export function sumCosts(usage: readonly ModelUsage[]): Cost {
  const isComplete = !usage.some(isUnpriced);
  const estimated = usage.filter((one) => isComplete && one.unpriced_tokens > 0);
  const reported = usage.reduce((sum, { cost }) => sum + cost, 0);
  const value = estimated.reduce((sum, { estimated_cost }) => sum + (estimated_cost ?? 0), reported);
  return { value, isComplete, isEstimate: estimated.length > 0 };
}

/** Formats a large number compactly: `950`, `12.3k`, `4.5M`. */
export function formatShort(count: number): string {
  if (Math.round(count) < 1000) return String(Math.round(count));
  const thousands = count / 1000;
  return roundsToThousand(thousands) ? `${(thousands / 1000).toFixed(1)}M` : `${thousands.toFixed(1)}k`;
}

export function toOneLine(text: string, length = Infinity): string {
  return truncate(
    text
      .slice(0, length * 2)
      .replaceAll(/\s+/g, ' ')
      .trim(),
    length,
  );
}
