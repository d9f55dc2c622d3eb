import { startOfStep } from '../../src/base/index.js';
import type { StatisticsView } from '../../src/server/api/index.js';
import { t } from '../app/texts.js';

export type Period = 'day' | 'week' | 'month' | 'quarter';

export type Step = 'hour' | 'day' | 'week';

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

/** The length of each step, in seconds. */
export const STEPS: Readonly<Record<Step, number>> = { hour: HOUR_S, day: DAY_S, week: 7 * DAY_S };

/** The steps: the default first. Each gives enough bars to compare, and few enough to distinguish. */
export const PERIODS: Readonly<Record<Period, Readonly<{ label: string; lengthS: number; steps: readonly Step[] }>>> = {
  day: { label: t.last24Hours, lengthS: DAY_S, steps: ['hour'] },
  week: { label: t.last7Days, lengthS: 7 * DAY_S, steps: ['day', 'hour'] },
  month: { label: t.last30Days, lengthS: 30 * DAY_S, steps: ['day', 'week'] },
  quarter: { label: t.last13Weeks, lengthS: 91 * DAY_S, steps: ['week', 'day'] },
};

export const PERIOD_NAMES = Object.keys(PERIODS) as readonly Period[];

export function readPeriod(name: string | null): Period {
  return PERIOD_NAMES.find((known) => known === name) ?? 'day';
}

/** Reads a step from the address; the default of the period if the period does not have it. */
export function readStep(period: Period, name: string | null): Step {
  const { steps } = PERIODS[period];
  return steps.find((known) => known === name) ?? steps[0] ?? 'day';
}

/** Selects an engine's part of statistics; null selects all engines. The inbox is not split by engine. */
export function selectEngine(statistics: StatisticsView, engine: string | null): StatisticsView {
  if (engine === null) return statistics;
  const isOwn = (one: { readonly engine: string }): boolean => one.engine === engine;
  const buckets = statistics.buckets.map((bucket) => ({
    ...bucket,
    runs: bucket.runs.filter(isOwn),
    usage: bucket.usage.filter(isOwn),
    drift: bucket.drift.filter(isOwn),
  }));
  return { ...statistics, buckets };
}

/** Builds the query of a period. It starts with a whole step, so bars do not move between polls. */
export function buildStatisticsQuery(
  lengthS: number,
  stepS: number,
  now: number,
): Readonly<{ since: string; step: number }> {
  const stepMs = stepS * 1000;
  const since = startOfStep(now - lengthS * 1000 + stepMs - 1, stepMs);
  return { since: new Date(since).toISOString(), step: stepS };
}
