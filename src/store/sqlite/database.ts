import { closeSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { makeFolder } from '../../files/index.js';
import { holdsNul, isLookUp } from '../holds-nul.js';
import { StoreError, storeClosed } from '../store-error.js';
import { fileReplaced, isBusy, storeBusy, toStoreError } from './database-error.js';
import type { Connection, SqlValue, Statement } from './driver.js';
import { migrate } from './migrate.js';

/** How a file is used. */
export interface DatabaseOptions {
  /** `FULL` (default): what was acknowledged survives a power cut. `OFF` is for measuring everything but the disk. */
  readonly synchronous?: 'FULL' | 'OFF';
  /** How long a command may wait for other processes before it fails with `STORE_BUSY`. */
  readonly patienceMs?: number;
}

/** One file, used by any number of processes. */
export interface Database {
  /** The statement for this text, prepared once. */
  prepare(sql: string): Statement;
  /** Runs what only reads. */
  read<T>(work: () => T): Promise<T>;
  /** Runs work in a transaction that nobody else writes beside: all or nothing. */
  write<T>(work: () => T): Promise<T>;
  close(): void;
}

/** SQLite waits this long by itself, with the event loop stopped; most locks are gone long before. */
const BLOCKING_WAIT_MS = 50;
/** After that the event loop is free between attempts, which begin at random moments so that nobody is always last. */
const LONGEST_PAUSE_MS = 20;
const PATIENCE_MS = 30_000;

/** Opens a file, makes it and its folder if need be, and brings its tables to the newest form. */
export async function openDatabase(path: string, options: DatabaseOptions = {}): Promise<Database> {
  const file = resolve(path);
  const { synchronous = 'FULL', patienceMs = PATIENCE_MS } = options;
  await makeFolder(dirname(file)).catch((error: unknown) => {
    throw toStoreError(error, file);
  });
  const connection = await patiently(file, patienceMs, () => connect(file, synchronous));
  const identity = identityOf(file);
  const statements = new Map<string, Statement>();
  let isClosed = false;

  function prepare(sql: string): Statement {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = withWholeNames(connection.prepare(sql), sql);
    statements.set(sql, statement);
    return statement;
  }

  const begin = prepare('BEGIN IMMEDIATE');
  const commit = prepare('COMMIT');

  function check(): void {
    if (isClosed) throw storeClosed();
    if (identityOf(file) !== identity) throw fileReplaced(file);
  }

  function transact<T>(work: () => T): T {
    check();
    begin.run();
    try {
      const value = work();
      commit.run();
      return value;
    } catch (error) {
      // After some errors SQLite has rolled back by itself.
      if (connection.isTransaction) connection.exec('ROLLBACK');
      throw error;
    }
  }

  return {
    prepare,
    read: async (work) =>
      patiently(file, patienceMs, () => {
        check();
        return work();
      }),
    write: async (work) => patiently(file, patienceMs, () => transact(work)),
    close() {
      if (isClosed) return;
      isClosed = true;
      connection.close();
    },
  };
}

function connect(file: string, synchronous: 'FULL' | 'OFF'): Connection {
  // Made by us, so that only its owner may read it; SQLite gives its side files the same permissions.
  closeSync(openSync(file, 'a', 0o600));
  const connection = new DatabaseSync(file, { timeout: BLOCKING_WAIT_MS, enableForeignKeyConstraints: true });
  try {
    connection.exec(`PRAGMA journal_mode = WAL`);
    connection.exec(`PRAGMA synchronous = ${synchronous}`);
    connection.exec(`PRAGMA cache_size = -16384`);
    // A log that a burst has blown up is cut down again when it is written back.
    connection.exec(`PRAGMA journal_size_limit = 67108864`);
    migrate(connection, file);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Which file it is that has this name. One that was removed or replaced is still open here, and what is written to it
 * would be gone with this process; looking costs a hundredth of a commit.
 */
function identityOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? 'none' : `${found.dev}:${found.ino}`;
}

/** Does it again while other processes hold the file; any other error is the caller's. */
async function patiently<T>(file: string, patienceMs: number, work: () => T): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw toStoreError(error, file);
      if (performance.now() > deadline) throw storeBusy(file, error);
      await sleep(Math.random() * LONGEST_PAUSE_MS);
    }
  }
}

/** A statement that takes no name for another: one with a NUL, where SQLite would cut it off, is nobody's. */
function withWholeNames(statement: Statement, sql: string): Statement {
  const findsNothing = isLookUp(sql);

  function isNobody(values: readonly SqlValue[]): boolean {
    if (!values.some(holdsNul)) return false;
    if (findsNothing) return true;
    throw new StoreError(
      'STORE_FAILED',
      'a name holds a NUL, which the database cannot keep; nothing was written: leave it out',
    );
  }

  return {
    run: (...values) => (isNobody(values) ? { changes: 0 } : statement.run(...values)),
    get: (...values) => (isNobody(values) ? undefined : statement.get(...values)),
    all: (...values) => (isNobody(values) ? [] : statement.all(...values)),
  };
}
