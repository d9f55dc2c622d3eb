import { formatMoment } from '../../ui/format.js';

/** A period to chart. */
export type Range = 'hour' | 'day' | 'week' | 'month';

const MINUTE_S = 60;
const DAY_S = 24 * 60 * MINUTE_S;

/** Each range with its length and a step that results in 30 to 60 points. */
export const RANGES: Readonly<
  Record<Range, { readonly label: string; readonly lengthS: number; readonly stepS: number }>
> = {
  hour: { label: 'Last hour', lengthS: 60 * MINUTE_S, stepS: MINUTE_S },
  day: { label: 'Last 24 hours', lengthS: DAY_S, stepS: 30 * MINUTE_S },
  week: { label: 'Last 7 days', lengthS: 7 * DAY_S, stepS: 180 * MINUTE_S },
  month: { label: 'Last 30 days', lengthS: 30 * DAY_S, stepS: DAY_S },
};

/** Reads the range from the address. */
export function readRange(name: string | null): Range {
  return name !== null && isRange(name) ? name : 'day';
}

function isRange(name: string): name is Range {
  return Object.hasOwn(RANGES, name);
}

/** Builds the query of a period. It starts at a multiple of the step, so points do not move between polls. */
export function buildStatisticsQuery(range: Range, now: number): { readonly since: string; readonly step: number } {
  const { lengthS, stepS } = RANGES[range];
  const stepMs = stepS * 1000;
  const since = Math.ceil((now - lengthS * 1000) / stepMs) * stepMs;
  return { since: new Date(since).toISOString(), step: stepS };
}

/** Formats a label below a chart: the date at midnight, otherwise the time of day. */
export function formatTimeMark(seconds: number): string {
  const moment = formatMoment(new Date(seconds * 1000).toISOString(), null);
  return moment.endsWith(' 00:00') ? moment.slice(5, 10) : moment.slice(11);
}

/** Describes how many engines report no cost; empty if all do. */
export function describeUnpriced(engines: readonly string[]): string {
  const count = new Set(engines).size;
  if (count === 0) return '';
  return count === 1 ? '1 engine reports no cost' : `${count} engines report no cost`;
}
