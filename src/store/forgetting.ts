import type { Listed } from '../orders/index.js';

/**
 * Deletes old data, each call a bounded part of it. Processes that do so at once never delete or count the same. Times are
 * milliseconds since 1970.
 */
export interface Forgetting {
  /**
   * Deletes the events of runs that ended before a moment, longest ago first, at most this many runs and rows, and marks
   * those without remaining events as forgotten. Their records stay. Runs of orders that are not settled or that have an
   * open inbox item are kept.
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

/** The result of {@link Forgetting.forgetRuns}. */
export interface ForgottenRuns {
  /** Runs that have no events left. */
  readonly ids: readonly string[];
  /** Whether nothing more is due. */
  readonly isDone: boolean;
}

/** The result of {@link Forgetting.forgetRecords}. */
export interface ForgottenRecords {
  readonly deleted: number;
  /** Where to continue; null if all were examined. */
  readonly next_cursor: string | null;
}
