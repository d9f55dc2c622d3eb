import { RequestError } from '../request-error.js';
import { timeOf } from '../time-of.js';

/** A span of time in equal steps. Milliseconds since 1970. */
export interface StatisticsSpan {
  readonly since: number;
  readonly until: number;
  readonly stepMs: number;
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
/** What people divide time into, in seconds: a minute to a year. */
const STEPS = [60, 300, 900, 3600, 10_800, 21_600, 86_400, 604_800, 2_592_000, 31_536_000] as const;
/** A chart as wide as a screen shows no more. */
const USUAL_BUCKETS = 60;
const MOST_BUCKETS = 500;

/**
 * The span a request asks for: the last week by default, in steps of which there are some dozens. It begins with a whole
 * step, so that the same question asked a moment later gives the same steps.
 */
export function statisticsSpan(query: Readonly<Record<string, string>>, now: number): StatisticsSpan {
  const until = timeOf(query['until']) ?? now;
  const from = timeOf(query['since']) ?? until - WEEK_MS;
  if (from >= until) throw new RequestError('INVALID_QUERY', '`since` must lie before `until`.');
  const usual = STEPS.find((seconds) => until - from <= seconds * 1000 * USUAL_BUCKETS) ?? STEPS.at(-1);
  const stepMs = Number(query['step'] ?? usual) * 1000;
  const since = Math.floor(from / stepMs) * stepMs;
  if ((until - since) / stepMs > MOST_BUCKETS) {
    throw new RequestError('INVALID_QUERY', `There are more than ${MOST_BUCKETS} steps: take longer ones.`);
  }
  return { since, until, stepMs };
}
