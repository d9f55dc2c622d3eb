import type { EventRow } from './event-rows.js';
import type { EventRange, RunClaim } from './ports/index.js';

/** A value that can be bound to a statement. Lists are bound as JSON. */
export type Value = string | number | null | Uint8Array;

/** A row by column name. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * Executes statements. They are written once, in PostgreSQL's notation: `$1`, `::bigint`, `ctid` and `FOR UPDATE`, which
 * SQLite's dialect rewrites or drops, and `INDEXED BY`, which PostgreSQL's dialect drops. Some forms are rewritten:
 *
 * - `seq IN each($1)`: in a JSON list of integers; as a join, PostgreSQL would compare every row with every integer
 * - `each($1) AS name`: the elements of a JSON list of strings or numbers, as `name.value`
 * - `objects($1) AS name`: the elements of a JSON list of objects, as `name.value`, read with `->>`
 * - `next_seq(table)`: the number that the database assigns to the next row
 * - `JOIN LATERAL (SELECT … LIMIT …) AS table ON true`: row by row and no further than needed; in SQLite, `CROSS JOIN`
 *
 * `= ANY (ARRAY(SELECT …))` and not `IN (SELECT … LIMIT …)`: PostgreSQL can execute the subquery of `IN` once per row,
 * skipping the rows it has already changed, so more rows than the limit would be changed.
 */
export interface Session {
  all(sql: string, values?: readonly Value[]): Promise<readonly Row[]>;
  get(sql: string, values?: readonly Value[]): Promise<Row | undefined>;
  /** Returns the number of changed rows. */
  run(sql: string, values?: readonly Value[]): Promise<number>;
  /** Executes a guarded change atomically; returns the rows that its guard found, none if nothing was changed. */
  change(change: GuardedChange, values: readonly Value[]): Promise<readonly Row[]>;
  /**
   * Runs a transaction; within one, `work` is part of it. `work` must use only its session. Errors of `work` itself are
   * thrown unchanged.
   */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
}

/**
 * Statements that take effect only if a guard finds rows. They share their parameters and read the guard's rows as the
 * table `guard`. PostgreSQL executes all of it as one statement, so none sees another's effect; SQLite executes them in
 * this order, except those with the condition `WHERE $1::text IS NOT NULL` if that value is null. Each must read `guard`, have
 * the same effect in both cases, and change other rows than the others.
 */
export interface GuardedChange {
  /** Selects rows `FOR UPDATE`, or inserts one: of two concurrent changes, the second sees the row as the first left it. */
  readonly guard: string;
  readonly statements: readonly string[];
}

export interface Database extends Session {
  /** Throws if the database is closed. */
  checkOpen(): void;
  /** Like `transaction`, and no other process runs work under the same lock; waits for it. */
  exclusive<T>(lock: LockName, work: (session: Session) => Promise<T>): Promise<T>;
  /** Like `exclusive`; returns undefined if the lock is in use. */
  tryExclusive<T>(lock: LockName, work: (session: Session) => Promise<T>): Promise<T | undefined>;
}

/** Locks for work of which one transaction at a time is allowed. */
type LockName = 'budgets' | 'counting' | `request ${string}`;

/** Changes that processes might be waiting for. */
interface Changes {
  /** Runs or messages that might be claimable. */
  readonly queue?: boolean;
  /** Messages that are due now, and that no worker is about to deliver. */
  readonly messages?: boolean;
  /** Runs with new events, an end or a decision. */
  readonly runs?: readonly string[];
  /** Runs with a reply or a request to stop. */
  readonly requests?: readonly string[];
}

/** Wakes workers when work might be available. */
export interface QueueNotifications {
  /**
   * Calls back when an order, a run or a message might have become due, until the returned function is called. A late,
   * repeated or unnecessary call is harmless, because the worker must claim the work anyway.
   */
  watchQueue(wake: (work?: QueueWork) => void, watcher?: QueueWatcher): () => void;
}

/** The work that wakes a worker: runs to claim, or messages to deliver. If omitted, both. */
export type QueueWork = 'runs' | 'messages';

/** A watcher and the runs it accepts, so a run wakes one worker instead of all. */
export interface QueueWatcher extends Pick<RunClaim, 'kinds' | 'workerTypes' | 'labels'> {
  /** The name that its claims pass as `watcher`. */
  readonly worker?: string;
}

/** The parts that each database does in a different way. */
export interface Dialect {
  readonly database: Database;
  readonly now: () => number;
  /** Whether looking for rows costs much less than a statement that would change them and finds none. */
  readonly looksFirst: boolean;
  /** Adjusts `now` to the clock that all hosts share. */
  readonly synchronizeClock: () => Promise<void>;
  readonly claimNext: (claim: RunClaim) => Promise<Row | undefined>;
  /** The runs with a text that contains a word, possibly also others or one twice; undefined if it cannot find it. */
  readonly findWord?: ((word: string, limit: number) => Promise<readonly number[] | undefined>) | undefined;
  /** Stores the events that are not stored yet; returns the rows whose worker does not hold the run. */
  readonly addEvents: (rows: readonly EventRow[]) => Promise<readonly EventRow[]>;
  /** Returns the bodies of the rows that contain a range, at least as many as a page needs. */
  readonly readBodies: (runId: string, protocol: string, range: EventRange) => Promise<Iterable<unknown>>;
  readonly eventWrites: number;
  /** Wakes processes after a commit, unless the database does so itself. */
  readonly announce: (changes: Changes) => Promise<void>;
  readonly watchRun: (runId: string, wake: () => void) => () => void;
  readonly watchRequests: (runId: string, wake: () => void) => () => void;
  readonly watchQueue: QueueNotifications['watchQueue'];
  readonly close: () => Promise<void>;
}

/** One of the two stores of a migration. */
export interface MigrationSide {
  readonly database: Database;
  readonly now: () => number;
  /** Runs work in a transaction of any length, during which nothing else can write. */
  readonly freeze: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
  /** Sets the schema version, and makes the database assign numbers after the copied rows. */
  readonly setVersion: (session: Session, version: number) => Promise<void>;
}
