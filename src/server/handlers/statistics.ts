import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { countStatistics } from '../statistics/count-statistics.js';
import { statisticsSpan } from '../statistics/statistics-span.js';

/** More than this is no picture any more; the latest count. */
const MOST_RUNS = 50_000;
const MOST_ITEMS = 5000;

/** Figures over time, for charts. */
export function createStatisticsHandlers({ store, clock }: ServerContext): Pick<Handlers, 'readStatistics'> {
  return {
    async readStatistics({ query }) {
      const now = clock();
      const span = statisticsSpan(query, now);
      const { since, until, stepMs } = span;
      const [runs, inbox] = await Promise.all([
        store.listRunFigures({ since, until, limit: MOST_RUNS }),
        store.listInboxFigures({ since, until, limit: MOST_ITEMS }),
      ]);
      return {
        since: new Date(since).toISOString(),
        until: new Date(until).toISOString(),
        step_s: stepMs / 1000,
        complete: runs.length < MOST_RUNS && inbox.length < MOST_ITEMS,
        buckets: countStatistics({ span, runs, inbox, now }),
      };
    },
  };
}
