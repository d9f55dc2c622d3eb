import type { Listed } from './ports/index.js';
import type { OrderState, RunRecord, RunState } from './records/index.js';

/** Counts work in the store and lists ended runs. Every method reads a bounded number of rows through an index. */
export interface Maintenance {
  /** Counts unfinished work. */
  countOpenWork(): Promise<OpenWorkCounts>;
  /** Lists runs that ended at `since` or later, in the order they ended. Times are milliseconds since 1970. */
  listEndedRuns(page: {
    readonly since: number;
    readonly cursor?: string;
    readonly limit?: number;
  }): Promise<Listed<RunRecord>>;
  /**
   * Claims runs or executions by id, so only one process counts them in its metrics. Returns the ids that no process
   * has claimed within the last day.
   */
  claimForMetrics(claim: { readonly ids: readonly string[]; readonly now: number }): Promise<readonly string[]>;
  /** Returns the hosts that have claimed these runs, by run. */
  findHosts(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns the ids of the given runs whose events were deleted. */
  findRunsWithoutEvents(ids: readonly string[]): Promise<readonly string[]>;
  /**
   * Returns the ids of the given runs that ended before `endedBefore` and whose orders are settled, so nothing more is
   * written to their folders.
   */
  findSettledRuns(filter: {
    readonly ids: readonly string[];
    readonly endedBefore: number;
  }): Promise<readonly string[]>;
}

/** How long a claim is kept, so a process that notices a run late does not count it again. */
export const COUNT_CLAIM_TTL_MS = 24 * 60 * 60 * 1000;
/** The maximum number of old claims that one call deletes. */
export const MAX_CLAIMS_DELETED = 2000;

/** Counts of unfinished work. */
export interface OpenWorkCounts {
  readonly runs: Readonly<Record<Exclude<RunState, 'ended'>, number>>;
  readonly orders: Readonly<Record<Exclude<OrderState, 'settled' | 'canceled'>, number>>;
  /** Open inbox items. */
  readonly inbox: number;
  readonly outbox: {
    /** Not delivered yet. */
    readonly open: number;
    readonly dead: number;
    /** When the oldest open message was written. */
    readonly oldest: number | null;
  };
}

/** Returns the count of each state, 0 if missing. */
export function countStates<State extends string>(
  states: readonly State[],
  counted: Iterable<readonly [state: string, count: number]>,
): Record<State, number> {
  const counts = new Map(counted);
  return Object.fromEntries(states.map((state) => [state, counts.get(state) ?? 0])) as Record<State, number>;
}

export const OPEN_RUN_STATES = ['queued', 'running', 'waiting'] as const;
