import type { Listed } from '../orders/index.js';

/**
 * Deletes old data, a bounded part of it per call. Processes that do so at the same time never delete or count anything twice.
 * Times are milliseconds since 1970.
 */
export interface Forgetting {
  /**
   * Deletes the events of runs that ended before `endedBefore`, oldest first, at most `runs` runs and `rows` rows, and marks runs
   * without remaining events as forgotten. Their records stay. Runs of orders that are not settled or have an open inbox item
   * are kept.
   */
  forgetRuns(step: {
    readonly endedBefore: number;
    readonly runs: number;
    readonly rows: number;
    readonly now: number;
  }): Promise<ForgottenRuns>;
  /** Lists the ids of runs that were forgotten at `since` or later, in the order of that time. */
  listForgottenRuns(page: {
    readonly since: number;
    readonly cursor?: string;
    readonly limit?: number;
  }): Promise<Listed<string>>;
  /**
   * Deletes the records of runs that ended before `endedBefore` and were forgotten before `forgottenBefore`: the run with its
   * order, its executions and its resolved inbox items. Statistics stay, and so does the active order of an issue. One call
   * examines at most `limit` runs.
   */
  forgetRecords(step: {
    readonly endedBefore: number;
    readonly forgottenBefore: number;
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): Promise<ForgottenRecords>;
  /** Deletes delivered messages that were written before a time, oldest first; returns how many. */
  forgetDelivered(step: { readonly before: number; readonly limit: number }): Promise<number>;
  /** Deletes results that were cached before a time, oldest first; returns how many. */
  forgetResults(step: { readonly before: number; readonly limit: number }): Promise<number>;
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
