import type { InboxHistory } from './inbox-roll-up.js';
import type { RunSlot, StatisticsPeriod } from './roll-up.js';

/** MetricRegistry over time. The time to read them depends on the number of slots, not on the number of runs or inbox items. */
export interface Statistics {
  /** Returns counts of all runs that ended in a period, by engine, in slots of time no longer than its steps. */
  listRunSlots(period: StatisticsPeriod): Promise<readonly RunSlot[]>;
  /** Adds ended runs to their slots, at most this many, each once; returns how many. */
  countEndedRuns(limit: number): Promise<number>;
  /** Returns opened and resolved inbox items since the beginning of a period, in slots of time no longer than its steps. */
  readInboxHistory(period: StatisticsPeriod): Promise<InboxHistory>;
  /** Adds opened or resolved inbox items to their slots, at most this many; returns how many. */
  countInboxItems(limit: number): Promise<number>;
}
