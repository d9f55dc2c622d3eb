import { RequestError } from '../http/problem.js';
import { readTime } from '../handlers/query.js';

/** A time span in equal steps, in milliseconds since 1970. */
export interface StatisticsSpan {
  readonly since: number;
  readonly until: number;
  readonly stepMs: number;
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
/** Common step lengths in seconds, from a minute to a year. */
const STEPS = [60, 300, 900, 3600, 10_800, 21_600, 86_400, 604_800, 2_592_000, 31_536_000] as const;
/** The maximum number of steps by default: more would not fit on a full-width chart. */
const DEFAULT_MAX_STEPS = 60;
const MAX_STEPS = 500;

/**
 * Reads the span of a request: the last week by default, in a few dozen steps. It starts at a multiple of the step, so
 * repeating the request shortly after returns the same steps.
 */
export function readStatisticsSpan(query: Readonly<Record<string, string>>, now: number): StatisticsSpan {
  const until = readTime(query, 'until') ?? now;
  const from = readTime(query, 'since') ?? until - WEEK_MS;
  if (from >= until)
    throw new RequestError(
      'INVALID_QUERY',
      '"since" must be before "until". Use an earlier "since" or a later "until".',
    );
  const defaultStep = STEPS.find((seconds) => until - from <= seconds * 1000 * DEFAULT_MAX_STEPS) ?? STEPS.at(-1);
  const stepMs = roundStep(Number(query['step'] ?? defaultStep) * 1000);
  const since = Math.floor(from / stepMs) * stepMs;
  if ((until - since) / stepMs > MAX_STEPS) {
    throw new RequestError(
      'INVALID_QUERY',
      `The span has more than ${MAX_STEPS} steps. Use a longer "step" or a shorter span.`,
    );
  }
  return { since, until, stepMs };
}

/** The lengths of the slots that runs are counted in. A step consists of whole slots. */
const SLOTS_MS = [86_400_000, 3_600_000, 60_000];

function roundStep(stepMs: number): number {
  const slotMs = SLOTS_MS.find((length) => stepMs >= length) ?? 60_000;
  return Math.ceil(stepMs / slotMs) * slotMs;
}
