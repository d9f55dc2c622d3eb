import type { Listed } from '../orders/index.js';

/**
 * Deletes old data, a bounded part of it per call. Processes that do so at the same time never delete or count anything twice.
 * Times are milliseconds since 1970.
 */
export interface Retention {
  /**
   * Deletes the events of runs that ended before `endedBefore`, oldest first, at most `runs` runs and `rows` rows, and marks runs
   * without remaining events as purged. Their records stay. Runs of orders that are not settled or have an open inbox item
   * are kept.
   */
  purgeRuns(step: {
    readonly endedBefore: number;
    readonly runs: number;
    readonly rows: number;
    readonly now: number;
  }): Promise<PurgedRuns>;
  /** Lists the ids of runs that were purged at `since` or later, in the order of that time. */
  listPurgedRuns(page: {
    readonly since: number;
    readonly cursor?: string;
    readonly limit?: number;
  }): Promise<Listed<string>>;
  /**
   * Deletes the records of runs that ended before `endedBefore` and were purged before `purgedBefore`: the run with its
   * order, its executions and its resolved inbox items. Statistics stay, and so does the active order of an issue. One call
   * examines at most `limit` runs.
   */
  purgeRecords(step: {
    readonly endedBefore: number;
    readonly purgedBefore: number;
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): Promise<PurgedRecords>;
  /** Deletes delivered messages that were written before a time, oldest first; returns how many. */
  purgeDelivered(step: { readonly before: number; readonly limit: number }): Promise<number>;
  /** Deletes results that were cached before a time, oldest first; returns how many. */
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
  /** Where to continue; null if all were examined. */
  readonly next_cursor: string | null;
}
