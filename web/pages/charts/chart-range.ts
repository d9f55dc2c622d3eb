/** A period to show. */
export type Range = 'hour' | 'day' | 'week' | 'month';

const MINUTE_S = 60;
const DAY_S = 24 * 60 * MINUTE_S;

/** Each range with its length and a step that gives some fifty points. */
export const RANGES: Readonly<
  Record<Range, { readonly label: string; readonly lengthS: number; readonly stepS: number }>
> = {
  hour: { label: 'Hour', lengthS: 60 * MINUTE_S, stepS: MINUTE_S },
  day: { label: 'Day', lengthS: DAY_S, stepS: 30 * MINUTE_S },
  week: { label: 'Week', lengthS: 7 * DAY_S, stepS: 180 * MINUTE_S },
  month: { label: 'Month', lengthS: 30 * DAY_S, stepS: DAY_S },
};

/** The range a word of the address means. */
export function readRange(word: string | null): Range {
  return word !== null && isRange(word) ? word : 'day';
}

function isRange(word: string): word is Range {
  return Object.hasOwn(RANGES, word);
}

/** The query for a period. Starts at a whole step, so that points do not move between polls. */
export function chooseSpan(range: Range, now: number): { readonly since: string; readonly step: number } {
  const { lengthS, stepS } = RANGES[range];
  const stepMs = stepS * 1000;
  const since = Math.ceil((now - lengthS * 1000) / stepMs) * stepMs;
  return { since: new Date(since).toISOString(), step: stepS };
}

/**
 * A label below a chart: the date at midnight, else the time of day.
 *
 * @example
 * timeMark(new Date(2026, 10, 15).getTime() / 1000) // '11-15'
 */
export function timeMark(seconds: number): string {
  const date = new Date(seconds * 1000);
  const [hours, minutes] = [date.getHours(), date.getMinutes()];
  if (hours === 0 && minutes === 0) return `${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${two(hours)}:${two(minutes)}`;
}

function two(part: number): string {
  return String(part).padStart(2, '0');
}
