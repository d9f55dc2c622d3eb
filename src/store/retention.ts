import type { Listed } from './ports/index.js';

/**
 * Deletes old data, a bounded amount per call. Concurrent processes never delete or count anything twice. Times are
 * milliseconds since 1970.
 */
export interface Retention {
  /**
   * Deletes the events of runs that ended before `endedBefore`, oldest first, at most `runs` runs and `rows` rows, and
   * marks runs without remaining events as purged. Their records stay. Runs are kept if their order is not settled or
   * has an open inbox item.
   */
  purgeRuns(step: {
    readonly endedBefore: number;
    readonly runs: number;
    readonly rows: number;
    readonly now: number;
  }): Promise<PurgedRuns>;
  /** Lists the ids of runs purged at `since` or later, in the order they were purged. */
  listPurgedRuns(page: {
    readonly since: number;
    readonly cursor?: string;
    readonly limit?: number;
  }): Promise<Listed<string>>;
  /**
   * Deletes the records of runs that ended before `endedBefore` and were purged before `purgedBefore`: the run with its
   * order, its executions and its resolved inbox items. Statistics and an issue's active order are kept. One call
   * examines at most `limit` runs.
   */
  purgeRecords(step: {
    readonly endedBefore: number;
    readonly purgedBefore: number;
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): Promise<PurgedRecords>;
  /** Deletes delivered messages written before a given time, oldest first; returns the number deleted. */
  purgeDelivered(step: { readonly before: number; readonly limit: number }): Promise<number>;
  /** Deletes results cached before a given time, oldest first; returns the number deleted. */
  purgeResults(step: { readonly before: number; readonly limit: number }): Promise<number>;
}

/** The result of {@link Retention.purgeRuns}. */
export interface PurgedRuns {
  /** Runs that have no events left. */
  readonly ids: readonly string[];
  /** Whether nothing more is due. */
  readonly isDone: boolean;
}

/** The result of {@link Retention.purgeRecords}. */
export interface PurgedRecords {
  readonly deleted: number;
  /** Where to continue; null if all runs were examined. */
  readonly next_cursor: string | null;
}
