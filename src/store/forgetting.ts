import type { Listed } from '../orders/index.js';

/**
 * Deletes old data, each call a bounded part of it. Processes that do so at once never delete or count the same. Times are
 * milliseconds since 1970.
 */
export interface Forgetting {
  /**
   * Deletes the events of runs that ended before a moment, longest ago first, at most so many runs and rows, and marks those that
   * have none left as forgotten. Their records stay. Runs of orders that are not settled or that have an open inbox item are kept.
   */
  forgetRuns(wanted: {
    readonly endedBefore: number;
    readonly runs: number;
    readonly rows: number;
    readonly now: number;
  }): Promise<ForgottenRuns>;
  /** The ids of runs that were forgotten at `since` or later, in that order. */
  listForgottenRuns(page: {
    readonly since: number;
    readonly cursor?: string;
    readonly limit?: number;
  }): Promise<Listed<string>>;
  /**
   * Deletes the records of runs that ended before a moment and were forgotten before another: the run with its order, its
   * executions and its resolved inbox items. What statistics have counted of it stays, and so does the order that is active in
   * its issue. One call examines at most `limit` runs.
   */
  forgetRecords(wanted: {
    readonly endedBefore: number;
    readonly forgottenBefore: number;
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): Promise<ForgottenRecords>;
  /** Deletes delivered messages that were written before a time, oldest first; returns how many. */
  forgetDelivered(wanted: { readonly before: number; readonly limit: number }): Promise<number>;
  /** Deletes results that were cached before a time, oldest first; returns how many. */
  forgetResults(wanted: { readonly before: number; readonly limit: number }): Promise<number>;
}

/** What {@link Forgetting.forgetRuns} has done. */
export interface ForgottenRuns {
  /** Runs that have no events left. */
  readonly ids: readonly string[];
  /** Whether nothing more is due. */
  readonly isDone: boolean;
}

/** What {@link Forgetting.forgetRecords} has done. */
export interface ForgottenRecords {
  readonly deleted: number;
  /** Where to go on; null if all were examined. */
  readonly next_cursor: string | null;
}
