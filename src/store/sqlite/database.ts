import { closeSync, openSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { makeFolder } from '../../files/index.js';
import { containsNul, isReadOnly } from '../contains-nul.js';
import { createNulError, createClosedError } from '../store-error.js';
import { createReplacedError, isBusy, createBusyError, toStoreError } from './database-error.js';
import type { Connection, SqlValue, Statement } from './driver.js';
import { createVersionCheck, migrate } from './migrate.js';

/** Options for opening a file. */
export interface DatabaseOptions {
  /** `FULL` (default): acknowledged writes survive a power failure. `OFF` is for benchmarks without the disk. */
  readonly synchronous?: 'FULL' | 'OFF';
  /** How long a command waits for other processes before it fails with `STORE_BUSY`. */
  readonly timeoutMs?: number;
}

/** One file, used by any number of processes. */
export interface Database {
  /** Returns the prepared statement for this SQL, which is prepared once. */
  prepare(sql: string): Statement;
  /** Runs a read. */
  read<T>(work: () => T): Promise<T>;
  /** Runs a function in an exclusive write transaction. */
  write<T>(work: () => T): Promise<T>;
  /**
   * Like `write`, for frequent writes: the event loop does not wait for the disk. Resolves once the data survives a
   * power failure, as with `write`; another process can see it earlier.
   */
  writeWithBackgroundSync(work: () => void): Promise<void>;
  close(): void;
}

/** How long SQLite itself waits for a lock, blocking the event loop; most locks are released sooner. */
const BLOCKING_WAIT_MS = 5;
/**
 * The maximum pause between later retries, which do not block the event loop. Pauses are random, so no process is
 * always last.
 */
const MAX_PAUSE_MS = 20;
const TIMEOUT_MS = 30_000;

/** Opens a file, creates it and its folder if needed, and migrates its tables to the newest schema version. */
export async function openDatabase(path: string, options: DatabaseOptions = {}): Promise<Database> {
  const file = resolve(path);
  const { synchronous = 'FULL', timeoutMs = TIMEOUT_MS } = options;
  await makeFolder(dirname(file)).catch((error: unknown) => {
    throw toStoreError(error, file);
  });
  const connection = await createRetryQueue(file, timeoutMs)(() => connect(file, synchronous));
  const identity = identifyFile(file);
  const statements = new Map<string, Statement>();
  let isClosed = false;

  function prepare(sql: string): Statement {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = rejectNul(connection.prepare(sql), sql);
    statements.set(sql, statement);
    return statement;
  }

  /** Only with a write-ahead log is a commit durable once that log has been synced. */
  const canSyncInBackground =
    synchronous === 'FULL' && connection.prepare('PRAGMA journal_mode').get()?.['journal_mode'] === 'wal';
  let log: FileHandle | undefined;

  /** SQLite holds no locks on the log itself, so closing this handle releases none. */
  async function syncLog(): Promise<void> {
    try {
      log ??= await open(`${file}-wal`, 'r+');
      await log.datasync();
      if (isClosed) await closeLog();
    } catch (error) {
      throw toStoreError(error, file);
    }
  }

  async function closeLog(): Promise<void> {
    const closing = log;
    log = undefined;
    await closing?.close().catch(() => undefined);
  }

  const begin = prepare('BEGIN IMMEDIATE');
  const commit = prepare('COMMIT');
  const checkVersion = createVersionCheck(connection, file);

  function check(): void {
    if (isClosed) throw createClosedError();
    if (identifyFile(file) !== identity) throw createReplacedError(file);
  }

  function transact<T>(work: () => T): T {
    check();
    begin.run();
    try {
      checkVersion();
      const value = work();
      commit.run();
      return value;
    } catch (error) {
      // After some errors SQLite has already rolled back.
      if (connection.isTransaction) connection.exec('ROLLBACK');
      throw error;
    }
  }

  // Reads do not wait for other processes' writes, so they must not wait in the write queue.
  const retryRead = createRetryQueue(file, timeoutMs);
  const retryWrite = createRetryQueue(file, timeoutMs);

  return {
    prepare,
    read: async (work) =>
      retryRead(() => {
        check();
        return work();
      }),
    write: async (work) => retryWrite(() => transact(work)),
    async writeWithBackgroundSync(work) {
      if (!canSyncInBackground) return retryWrite(() => transact(work));
      await retryWrite(() => {
        if (isClosed) throw createClosedError();
        connection.exec('PRAGMA synchronous = NORMAL');
        try {
          transact(work);
        } finally {
          connection.exec('PRAGMA synchronous = FULL');
        }
      });
      await syncLog();
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      connection.close();
      void closeLog();
    },
  };
}

function connect(file: string, synchronous: 'FULL' | 'OFF'): Connection {
  // Created here, so only its owner can read it; SQLite creates its side files with the same permissions.
  closeSync(openSync(file, 'a', 0o600));
  const connection = new DatabaseSync(file, { timeout: BLOCKING_WAIT_MS, enableForeignKeyConstraints: true });
  try {
    connection.exec(`PRAGMA journal_mode = WAL`);
    connection.exec(`PRAGMA synchronous = ${synchronous}`);
    connection.exec(`PRAGMA cache_size = -16384`);
    // The write-ahead log shrinks again after a burst.
    connection.exec(`PRAGMA journal_size_limit = 67108864`);
    migrate(connection, file);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Identifies the file at this path. A removed or replaced file is still open here, and writes to it would be lost with
 * this process. The check costs a hundredth of a commit.
 */
function identifyFile(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? 'none' : `${found.dev}:${found.ino}`;
}

/** Makes a call and retries it while other processes lock the file; other errors are thrown. */
type RetryQueue = <T>(work: () => T) => Promise<T>;

/**
 * Creates a queue for calls that find the file locked. Only the first call retries: each retry can block the event
 * loop, and many waiting calls must not block it longer than one.
 */
function createRetryQueue(file: string, timeoutMs: number): RetryQueue {
  /** Settles once the last waiting call is done; undefined while no call is waiting. */
  let last: Promise<void> | undefined;

  async function retry<T>(work: () => T, deadline: number): Promise<T> {
    for (;;) {
      await sleep(Math.random() * MAX_PAUSE_MS);
      try {
        return work();
      } catch (error) {
        if (!isBusy(error)) throw toStoreError(error, file);
        if (performance.now() > deadline) throw createBusyError(file, error);
      }
    }
  }

  return async (work) => {
    const deadline = performance.now() + timeoutMs;
    if (last === undefined) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error)) throw toStoreError(error, file);
        if (timeoutMs <= 0) throw createBusyError(file, error);
      }
    }
    const turn = (last ?? Promise.resolve()).then(async () => retry(work, deadline));
    const clearQueue = (): void => {
      if (last === done) last = undefined;
    };
    const done: Promise<void> = turn.then(clearQueue, clearQueue);
    last = done;
    return turn;
  };
}

/** Wraps a statement to reject values with a NUL, which SQLite would truncate and match with another name. */
function rejectNul(statement: Statement, sql: string): Statement {
  const onlyReads = isReadOnly(sql);

  function matchesNothing(values: readonly SqlValue[]): boolean {
    if (!values.some(containsNul)) return false;
    if (onlyReads) return true;
    throw createNulError();
  }

  return {
    run: (...values) => (matchesNothing(values) ? { changes: 0 } : statement.run(...values)),
    get: (...values) => (matchesNothing(values) ? undefined : statement.get(...values)),
    all: (...values) => (matchesNothing(values) ? [] : statement.all(...values)),
  };
}
