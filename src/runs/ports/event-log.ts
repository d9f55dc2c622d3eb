import type { Emitted } from '../../events/index.js';

/** Where the events of runs are kept before anyone hears of them. */
export interface EventLog {
  /** Adds events of a run, in their order; one that is there already (same protocol, attempt and seq) is left as it is. */
  append(runId: string, events: readonly Emitted[]): Promise<void>;
  /**
   * Events of one protocol in order, from after a position. For FCMP `after` is a seq; for RASP `attempt:seq`. May give
   * fewer than asked for; none means that there are no more, for now.
   */
  read(query: EventQuery): Promise<readonly Emitted[]>;
  /**
   * The data folder whose run folders this log consists of. A run in that folder keeps the files itself, so it does
   * not append to this log.
   */
  readonly runFoldersOf?: string;
}

/** Which events of a run to read, and from where. */
export interface EventQuery {
  readonly runId: string;
  readonly protocol: 'rasp' | 'fcmp';
  readonly after?: string | number;
  /** The last position wanted, inclusive. */
  readonly to?: string | number;
  /** At least 1 and at most 10,000, whatever is asked for. */
  readonly limit: number;
}

/** A log that tells when there is more to read, also of events another machine has written. */
export interface WatchableEventLog extends EventLog {
  /** Calls back after events of the run were added, until the returned function is called. */
  watch(runId: string, wake: () => void): () => void;
}
