import type { InboxHistory } from './inbox-roll-up.js';
import type { RunSlot, StatisticsPeriod } from './roll-up.js';

/** Statistics over time. Reading them takes time proportional to the number of slots, not of runs or inbox items. */
export interface Statistics {
  /** Returns counts of all runs that ended in a period, by engine, in time slots no longer than its steps. */
  listRunSlots(period: StatisticsPeriod): Promise<readonly RunSlot[]>;
  /** Adds up to `limit` ended runs to their slots, each once; returns the number added. */
  countEndedRuns(limit: number): Promise<number>;
  /** Returns opened and resolved inbox items since the start of a period, in time slots no longer than its steps. */
  readInboxHistory(period: StatisticsPeriod): Promise<InboxHistory>;
  /** Adds up to `limit` opened or resolved inbox items to their slots; returns the number added. */
  countInboxItems(limit: number): Promise<number>;
}
