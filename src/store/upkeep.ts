import type { Listed } from '../orders/index.js';
import type { OrderState, RunRecord, RunState } from '../records/index.js';

/** What keeps a store in shape and tells how it is. Every method looks at a bounded number of rows, found by an index. */
export interface Upkeep {
  /** How much is under way and how much waits. */
  measure(): Promise<StoreFigures>;
  /** Runs that ended at `since` or later, in the order they ended. Times are milliseconds since 1970. */
  listEndedRuns(page: {
    readonly since: number;
    readonly cursor?: string;
    readonly limit?: number;
  }): Promise<Listed<RunRecord>>;
  /**
   * Runs that ended before a moment, longest ago first, whose events are still there. Runs of orders that are not settled
   * or that a person is asked about are not among them.
   */
  listForgettableRuns(wanted: { readonly endedBefore: number; readonly limit: number }): Promise<readonly string[]>;
  /** Lets the oldest events of an ended run go, at most so many; true once none is left. The record of the run stays. */
  forgetEvents(run: { readonly id: string; readonly limit: number; readonly now: number }): Promise<boolean>;
  /** Which of these runs have no events any more because they were forgotten. */
  findForgottenRuns(ids: readonly string[]): Promise<readonly string[]>;
  /** Lets delivered messages go that were written before a moment, oldest first; tells how many. */
  forgetDelivered(wanted: { readonly before: number; readonly limit: number }): Promise<number>;
  /** Lets kept results go that were kept before a moment, oldest first; tells how many. */
  forgetResults(wanted: { readonly before: number; readonly limit: number }): Promise<number>;
}

/** Counts of what is not over. */
export interface StoreFigures {
  readonly runs: Readonly<Record<Exclude<RunState, 'ended'>, number>>;
  readonly orders: Readonly<Record<Exclude<OrderState, 'settled' | 'canceled'>, number>>;
  /** What waits for a person. */
  readonly inbox: number;
  readonly outbox: {
    /** Not delivered yet. */
    readonly open: number;
    readonly dead: number;
    /** When the oldest of the open ones was written. */
    readonly oldest: number | null;
  };
}

/** Counts by state, with a zero for each state that has none. */
export function countStates<State extends string>(
  states: readonly State[],
  counted: Iterable<readonly [state: string, count: number]>,
): Record<State, number> {
  const counts = new Map(counted);
  return Object.fromEntries(states.map((state) => [state, counts.get(state) ?? 0])) as Record<State, number>;
}

export const OPEN_RUN_STATES = ['queued', 'running', 'waiting'] as const;
export const OPEN_ORDER_STATES = ['queued', 'running'] as const;
