import { closeSync, fdatasyncSync, openSync, statSync } from 'node:fs';
import { open as openFile, type FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { makeFolder } from '../../base/files/index.js';
import type { Database, GuardedChange, Row, Session, Value } from '../driver.js';
import { type SchemaStep, SCHEMA_STEPS } from '../sql/schema.js';
import { containsNul, isReadOnly, createNulError, createClosedError } from '../store-error.js';
import { createBusyError, createReplacedError, isBusy, toDamagedError, toStoreError } from './database-error.js';
import type { Connection, Statement } from './driver.js';
import { createVersionCheck, migrate } from './migrate.js';

/** Options for opening a file. */
export interface DatabaseOptions {
  /** `FULL` (default): acknowledged writes survive a power failure. `OFF` is for benchmarks without the disk. */
  readonly synchronous?: 'FULL' | 'OFF';
  /** How long a command waits for other processes before it fails with `STORE_BUSY`. */
  readonly timeoutMs?: number;
  /** The steps to the current schema version. */
  readonly steps?: readonly SchemaStep[];
  /** Opens a store with another schema version, which is not migrated. */
  readonly schemaVersion?: number;
}

/**
 * One file, used by any number of processes. `prepare`, `read` and `write` are for work that does not pause; a
 * transaction of the shared statements can, and everything else in this process waits for its end.
 */
export interface SqliteDatabase extends Database {
  /** Returns the prepared statement for this SQL, which is prepared once. */
  prepare(sql: string): Statement;
  read<T>(work: () => T): Promise<T>;
  /** Runs a function in an exclusive write transaction. */
  write<T>(work: () => T): Promise<T>;
  /** Like `write`, but without waiting for the disk. Resolves once the data survives a power failure. */
  writeWithBackgroundSync(work: () => void): Promise<void>;
  close(): void;
}

/** How long SQLite itself waits for a lock, blocking the event loop; most locks are released sooner. */
const BLOCKING_WAIT_MS = 5;
/** The maximum pause between later retries. Random, so no process is always last. */
const MAX_PAUSE_MS = 20;
const TIMEOUT_MS = 30_000;

/** If the last wait for the disk was shorter, the next blocks the event loop: switching threads takes about as long. */
const MAX_BLOCKING_SYNC_MS = 0.5;

/** SQLite's name of a database without a file, which is lost when it is closed. */
const IN_MEMORY = ':memory:';

/** Opens a file, creates it and its folder if needed, and migrates its tables to the newest schema version. */
export async function openDatabase(path: string, options: DatabaseOptions = {}): Promise<SqliteDatabase> {
  const isInMemory = path === IN_MEMORY;
  const file = isInMemory ? path : resolve(path);
  const { synchronous = 'FULL', timeoutMs = TIMEOUT_MS, steps = SCHEMA_STEPS, schemaVersion } = options;
  if (!isInMemory) {
    await makeFolder(dirname(file)).catch((error: unknown) => {
      throw toStoreError(error, file);
    });
  }
  /** `open` settles when the open transaction has ended; undefined while there is none. */
  const transactions: { open: Promise<void> | undefined } = { open: undefined };
  const connection = await createRetryQueue(
    file,
    timeoutMs,
  )(() => connect(file, synchronous, schemaVersion === undefined ? steps : undefined));
  const identity = identifyFile(file);
  const statements = new Map<string, Statement>();
  let isClosed = false;

  function prepare(sql: string): Statement {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    try {
      const statement = rejectNul(connection.prepare(translate(sql)), sql);
      statements.set(sql, statement);
      return statement;
    } catch (error) {
      // The tables have the right version, so a statement that does not fit them means that they are damaged.
      throw isBusy(error) ? error : toDamagedError(error, file);
    }
  }

  /** Only with a write-ahead log is a commit durable once that log has been synced. */
  const canSyncInBackground =
    synchronous === 'FULL' && connection.prepare('PRAGMA journal_mode').get()?.['journal_mode'] === 'wal';
  let log: FileHandle | undefined;
  let lastSyncMs = MAX_BLOCKING_SYNC_MS;

  /** SQLite holds no locks on the log itself, so closing this handle releases none. */
  async function syncLog(): Promise<void> {
    try {
      log ??= await openFile(`${file}-wal`, 'r+');
      const start = performance.now();
      if (lastSyncMs < MAX_BLOCKING_SYNC_MS) fdatasyncSync(log.fd);
      else await log.datasync();
      lastSyncMs = performance.now() - start;
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
  const checkVersion = createVersionCheck(connection, file, schemaVersion ?? steps.length);

  function checkOpen(): void {
    if (isClosed) throw createClosedError();
  }

  function check(): void {
    checkOpen();
    if (!isInMemory && identifyFile(file) !== identity) throw createReplacedError(file);
  }

  /** Kept until a transaction needs another one: setting it takes as long as inserting rows. */
  let syncLevel: string = synchronous;

  /** Changes nothing if `work` fails. Other work must wait until it ends, because it would be part of this transaction. */
  async function transact<T>(work: (session: Session) => T | Promise<T>, neededLevel: string): Promise<T> {
    while (transactions.open !== undefined) await transactions.open;
    check();
    if (syncLevel !== neededLevel) connection.exec(`PRAGMA synchronous = ${neededLevel}`);
    syncLevel = neededLevel;
    begin.run();
    let settle: (() => void) | undefined;
    try {
      checkVersion();
      let value = work(session);
      if (value instanceof Promise) {
        transactions.open = new Promise((done) => {
          settle = done;
        });
        value = await value;
      }
      commit.run();
      return value;
    } catch (error) {
      // After some errors SQLite has already rolled back.
      if (!isClosed && connection.isTransaction) connection.exec('ROLLBACK');
      throw error;
    } finally {
      transactions.open = undefined;
      settle?.();
    }
  }

  const changes = new WeakMap<GuardedChange, PreparedChange>();

  function applyChange(change: GuardedChange, values: readonly Value[]): readonly Row[] {
    const prepared: PreparedChange = changes.get(change) ?? {
      guard: prepareUsed(prepare, change.guard),
      byCount: new Map(),
    };
    changes.set(change, prepared);
    const { guard, byCount } = prepared;
    const rows = guard.statement.all(...guard.uses.map((number) => values[number - 1] ?? null));
    if (rows.length === 0) return rows;
    const bound = [...values, ...rows.flatMap((row) => Object.values(row) as Value[])];
    const guarded = byCount.get(rows.length) ?? prepareGuarded(prepare, change, rows, values.length);
    byCount.set(rows.length, guarded);
    for (const { statement, uses, needed } of guarded) {
      if (needed === undefined || bound[needed - 1] !== null)
        statement.run(...uses.map((number) => bound[number - 1] ?? null));
    }
    return rows;
  }

  const session: Session = {
    all: async (sql, values = []) => prepare(sql).all(...values),
    get: async (sql, values = []) => prepare(sql).get(...values),
    run: async (sql, values = []) => Number(prepare(sql).run(...values).changes),
    change: async (change, values) => applyChange(change, values),
    transaction: async (work) => work(session),
  };

  // Reads do not wait for other processes' writes, so they must not wait in the write queue.
  const retryRead = createRetryQueue(file, timeoutMs);
  const retryWrite = createRetryQueue(file, timeoutMs);

  const read = async <T>(work: () => T): Promise<T> =>
    retryRead(async () => {
      while (transactions.open !== undefined) await transactions.open;
      check();
      return work();
    });
  const write = async <T>(work: (session: Session) => T | Promise<T>, neededLevel: string = synchronous): Promise<T> =>
    retryWrite(async () => transact(work, neededLevel));
  const execute = async <T>(sql: string, work: () => T): Promise<T> => (isReadOnly(sql) ? read(work) : write(work));

  return {
    checkOpen,
    prepare,
    read,
    write,
    all: async (sql, values = []) => execute(sql, () => prepare(sql).all(...values)),
    get: async (sql, values = []) => execute(sql, () => prepare(sql).get(...values)),
    run: async (sql, values = []) => write(() => Number(prepare(sql).run(...values).changes)),
    change: async (change, values) => write(() => applyChange(change, values)),
    // Every transaction is exclusive: SQLite has one writer at a time.
    transaction: write,
    exclusive: async (_lock, work) => write(work),
    tryExclusive: async (_lock, work) => write(work),
    async writeWithBackgroundSync(work) {
      await write(work, canSyncInBackground ? 'NORMAL' : synchronous);
      if (canSyncInBackground) await syncLog();
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      connection.close();
      void closeLog();
    },
  };
}

function connect(file: string, synchronous: 'FULL' | 'OFF', steps: readonly SchemaStep[] | undefined): Connection {
  // Created here, so only its owner can read it; SQLite creates its side files with the same permissions.
  if (file !== IN_MEMORY) closeSync(openSync(file, 'a', 0o600));
  const connection = new DatabaseSync(file, { timeout: BLOCKING_WAIT_MS, enableForeignKeyConstraints: true });
  try {
    connection.exec(`PRAGMA journal_mode = WAL`);
    connection.exec(`PRAGMA synchronous = ${synchronous}`);
    connection.exec(`PRAGMA cache_size = -16384`);
    // The write-ahead log shrinks again after a burst.
    connection.exec(`PRAGMA journal_size_limit = 67108864`);
    if (steps !== undefined) migrate(connection, file, steps);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Identifies the file at this path: writes to a removed or replaced file would be lost with this process. */
function identifyFile(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? 'none' : `${found.dev}:${found.ino}`;
}

/**
 * Creates a queue for calls that find the file locked by other processes. Only the first retries, as retries block the
 * event loop. Other errors are thrown.
 */
function createRetryQueue(file: string, timeoutMs: number): <T>(work: () => T | Promise<T>) => Promise<T> {
  /** Settles once the last waiting call is done; undefined while no call is waiting. */
  let last: Promise<void> | undefined;

  async function retry<T>(work: () => T | Promise<T>, deadline: number): Promise<T> {
    for (;;) {
      await sleep(Math.random() * MAX_PAUSE_MS);
      try {
        return await work();
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
        return await work();
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

  function matchesNothing(values: readonly Value[]): boolean {
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

/** Rewrites a shared statement for SQLite (`Session` explains the notation). */
export function translate(sql: string): string {
  return sql
    .replaceAll(/\$(\d+)/g, '?$1')
    .replaceAll(/::(?:double precision|[a-z]+)/g, '')
    .replaceAll(/\sFOR (?:NO KEY )?UPDATE(?: OF \w+)?(?: SKIP LOCKED)?/g, '')
    .replaceAll('= ANY (ARRAY(', 'IN (SELECT * FROM (')
    .replaceAll(/\bctid\b/g, 'rowid')
    .replaceAll(/\bIN each\((\?\d+)\)/g, 'IN (SELECT value FROM json_each($1))')
    .replaceAll(/\b(?:each|objects)\((\?\d+)\) AS/g, 'json_each($1) AS')
    .replaceAll(/JOIN LATERAL \(SELECT \w+ FROM (\w+) WHERE (.+) LIMIT \?\d+\) AS \w+ ON true/g, 'CROSS JOIN $1 ON $2')
    .replaceAll(/next_seq\((\w+)\)/g, '(SELECT coalesce(max(seq), 0) + 1 FROM $1)')
    .replaceAll('greatest(', 'max(')
    .replaceAll('strpos(', 'instr(');
}

interface GuardedStatement {
  readonly statement: Statement;
  /** The numbers of the values that it binds. */
  readonly uses: readonly number[];
  /** The number of the value without which it has no effect. */
  readonly needed: number | undefined;
}

/** Prepares a statement that binds only the values that it uses. */
function prepareUsed(prepare: (sql: string) => Statement, sql: string): GuardedStatement {
  const uses = [...new Set(Array.from(sql.matchAll(/\$(\d+)/g), ([, number]) => Number(number)))];
  const renumbered = sql.replaceAll(/\$(\d+)/g, (_, number) => `$${uses.indexOf(Number(number)) + 1}`);
  const needed = /\bWHERE \$(\d+)::text IS NOT NULL\b/.exec(sql)?.[1];
  return { statement: prepare(renumbered), uses, needed: needed === undefined ? undefined : Number(needed) };
}

/** The statements of a guarded change, by the number of rows that the guard finds. */
interface PreparedChange {
  readonly guard: GuardedStatement;
  readonly byCount: Map<number, readonly GuardedStatement[]>;
}

/**
 * Prepares the statements of a guarded change. The guard's rows are bound as values, numbered after the `shared`
 * parameters, so all statements read them as they were before the change. Each statement binds only the values that it
 * uses, and reads a single row without a table: otherwise both would take as long as executing the statement.
 */
function prepareGuarded(
  prepare: (sql: string) => Statement,
  change: GuardedChange,
  rows: readonly Row[],
  shared: number,
): readonly GuardedStatement[] {
  const columns = Object.keys(rows[0] ?? {});
  let next = shared;
  const tuples = rows.map(() => `(${columns.map(() => `$${(next += 1)}`).join()})`).join();
  return change.statements.map((sql) => {
    const single = sql.replaceAll(/\bIN \(SELECT (\w+) FROM guard\)/g, (all, column: string) =>
      rows.length === 1 ? `IN ($${shared + columns.indexOf(column) + 1})` : all,
    );
    const text = /\bguard\b/.test(single) ? `WITH guard (${columns.join()}) AS (VALUES ${tuples}) ${single}` : single;
    return prepareUsed(prepare, text);
  });
}
