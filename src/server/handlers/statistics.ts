import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';
import { countStatistics } from '../statistics/count-statistics.js';
import { readStatisticsSpan } from '../statistics/statistics-span.js';

/** Creates the handler for statistics over time, for charts. */
export function createStatisticsHandlers({ store, clock }: ServerContext): Pick<Handlers, 'readStatistics'> {
  return {
    async readStatistics({ query }) {
      const now = clock();
      const span = readStatisticsSpan(query, now);
      const { since, until, stepMs } = span;
      const [runs, inbox] = await Promise.all([store.listRunSlots(span), store.readInboxHistory(span)]);
      return {
        since: new Date(since).toISOString(),
        until: new Date(until).toISOString(),
        step_s: stepMs / 1000,
        complete: true,
        buckets: countStatistics({ span, runs, inbox, now }),
      };
    },
  };
}
