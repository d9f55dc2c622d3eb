import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { callbackify } from 'node:util';
import { isSluiceError } from '../../base/index.js';
import { holdsNul, isLookUp } from '../holds-nul.js';
import { storeClosed } from '../store-error.js';
import { isRepeatable, leavesConnection, toStoreError } from './database-error.js';
import type { DriverClient, DriverConnection, DriverPool, DriverQuery, Queryable } from './driver.js';
import { loadPackage } from './load-package.js';
import { SET_FORM } from './migrations.js';
import { createTurns } from './turns.js';

/** How this store uses a server. */
export interface DatabaseOptions {
  /** Connections at most; 10 by default. One more listens. */
  readonly connections?: number;
  /** The statement timeout; 60 s by default. */
  readonly statementTimeoutMs?: number;
  /** The lock timeout; 30 s by default. */
  readonly lockTimeoutMs?: number;
  /** The connection timeout; 10 s by default. */
  readonly connectTimeoutMs?: number;
}

/** One database, reached through a bounded pool. A lost connection fails the call that had it; the next one connects again. */
export interface Database extends Queryable {
  /** How many connections it opens at most. */
  readonly connections: number;
  /** Runs a transaction. Like a single statement it is retried a few times after a serialization failure or deadlock. */
  transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T>;
  /** Throws after the end. */
  checkOpen(): void;
  /** A connection outside the pool, not yet connected. */
  createClient(): DriverClient;
  close(): Promise<void>;
}

/** More failures in a row mean that something else is wrong. */
const MAX_ATTEMPTS = 5;

/** The pause before the first retry; it grows with each retry. */
const MAX_PAUSE_MS = 20;

/** How long a statement waits for an open connection before another one is opened. */
const PATIENCE_MS = 2;

export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const pg = (await loadPackage('pg', () => import('pg'))).default;
  const where = describeUrl(url);
  const { statementTimeoutMs = 60_000, lockTimeoutMs = 30_000, connectTimeoutMs = 10_000 } = options;
  const settings = {
    connectionString: url,
    application_name: 'sluice',
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    // For a server that stops answering: the client times out shortly after the server should have.
    query_timeout: statementTimeoutMs + 5_000,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  };
  const { connections = 10 } = options;
  const pool: DriverPool = new pg.Pool({
    ...settings,
    max: connections,
    // One stays open: a worker that looks at the queue now and then would connect again each time.
    min: 1,
    allowExitOnIdle: true,
    // A connection says which form of the tables it writes before it is used.
    verify: (connection, done) => setForm(connection, (error) => done(error ?? undefined)),
  });
  const turns = createTurns({
    atOnce: connections,
    longestWaitMs: statementTimeoutMs,
    countOpen: () => pool.totalCount,
    patienceMs: PATIENCE_MS,
  });
  const toQuery = createNaming();
  // A connection that breaks between two statements, idle or in a transaction, emits an error: without a listener it
  // would end the process. The pool drops it, or the next statement fails.
  pool.on('error', () => undefined);
  pool.on('connect', (connection) => connection.on('error', () => undefined));

  async function attempt<T>(work: (transaction: Queryable) => Promise<T>): Promise<T> {
    const connection = await pool.connect();
    try {
      await connection.query('BEGIN');
      const value = await work({ query: async (text, values) => connection.query(toQuery(text, values)) });
      await connection.query('COMMIT');
      connection.release();
      return value;
    } catch (error) {
      await releaseConnection(connection, error);
      throw error;
    }
  }

  let isClosed = false;
  function checkOpen(): void {
    if (isClosed) throw storeClosed();
  }

  /** Retries what the server rolled back because of a conflict. */
  async function retryConflicts<T>(command: () => Promise<T>): Promise<T> {
    checkOpen();
    for (let count = 1; ; count++) {
      try {
        return await turns.take(command);
      } catch (error) {
        if (count === MAX_ATTEMPTS || !isRepeatable(error)) throw toStoreError(error, where);
        // A random delay, so that two conflicting transactions do not retry at the same moment.
        await sleep(Math.random() * MAX_PAUSE_MS * count);
      }
    }
  }

  return {
    connections,
    async query(text, values) {
      checkOpen();
      if (isLookUp(text) && values?.some(holdsNul) === true) return { rows: [] };
      return retryConflicts(() => pool.query(toQuery(text, values)));
    },
    transaction: (work) => retryConflicts(() => attempt(work)),
    checkOpen,
    // Listening alone does not keep the process alive.
    createClient: () => new pg.Client({ ...settings, stream: () => new Socket().unref() }),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await pool.end();
    },
  };
}

const setForm = callbackify(async (connection: { query(text: string): Promise<unknown> }) =>
  connection.query(SET_FORM),
);

/** Each connection keeps a plan for every name: texts that are put together from parts must not become too many. */
const MAX_NAMES = 500;

/** Names statements with values, so that the server parses each text once for a connection. */
function createNaming(): (text: string, values: readonly unknown[] | undefined) => DriverQuery {
  const names = new Map<string, string>();
  return (text, values) => {
    if (values === undefined) return { text };
    if (!names.has(text) && names.size < MAX_NAMES) names.set(text, `sluice-${names.size + 1}`);
    const name = names.get(text);
    return { text, values: [...values], ...(name === undefined ? {} : { name }) };
  };
}

/** After an error of ours or of a statement the connection is usable; otherwise it is closed, which ends its transaction. */
async function releaseConnection(connection: DriverConnection, error: unknown): Promise<void> {
  if (!isSluiceError(error) && !leavesConnection(error)) return connection.release(true);
  try {
    await connection.query('ROLLBACK');
    connection.release();
  } catch {
    connection.release(true);
  }
}

/** Host, port and database, without the password: safe to show in a message. */
function describeUrl(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}` || 'its usual place';
  } catch {
    // The driver also accepts addresses that are not URLs, such as that of a socket.
    return 'this address';
  }
}
