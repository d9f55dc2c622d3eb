import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { callbackify } from 'node:util';
import { isSluiceError } from '../../base/index.js';
import { containsNul, isReadOnly, createClosedError, StoreError } from '../store-error.js';
import type { Client, ClientBase, Pool, PoolClient, QueryConfig, QueryResult } from 'pg';
import type { Database, Session, GuardedChange, Row } from '../driver.js';
import { SCHEMA_STEPS, type SchemaStep } from '../sql/schema.js';
import { isRetryable, isConnectionUsable, isPlanOutdated, toStoreError } from './database-error.js';

/** Executes statements: the pool, or one connection inside a transaction. */
export interface Queryable {
  /** Executes a statement. One with values is parsed once per connection. */
  query(text: string, values?: readonly unknown[]): Promise<Pick<QueryResult<Row>, 'rows' | 'rowCount'>>;
}

export interface DatabaseOptions {
  /** The maximum number of connections; 10 by default. One more is used for notifications. */
  readonly connections?: number;
  /** The statement timeout; 60 s by default. */
  readonly statementTimeoutMs?: number;
  /** The lock timeout; 30 s by default. */
  readonly lockTimeoutMs?: number;
  /** The connection timeout; 10 s by default. */
  readonly connectTimeoutMs?: number;
  readonly steps?: readonly SchemaStep[];
  /** The schema version that the connections declare, if it is not the current one. */
  readonly schemaVersion?: number;
}

interface TransactionOptions {
  /** Whether its statements can take any time. It must disable the server's timeouts itself. */
  readonly isLong?: boolean;
}

/** A database with a bounded pool. A lost connection fails one call; the next call reconnects. */
export interface PostgresDatabase extends Database, Queryable {
  /** The maximum number of connections. */
  readonly connections: number;
  readonly steps: readonly SchemaStep[];
  /** Runs a transaction, retried after a serialization failure or deadlock. Errors of `work` are thrown unchanged. */
  transaction<T>(work: (transaction: Queryable & Session) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Creates a connection outside the pool, not yet connected. */
  createClient(): Client;
  close(): Promise<void>;
}

const LOCK_KEY = `hashtextextended('sluice ' || $1::text, 0)`;

/** The longest timeout that timers support, about 25 days: the driver treats 0 as its default. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** After more failures in a row, the cause is not a conflict. */
const MAX_TRIES = 5;

/** The maximum pause before the first retry; it grows with each retry. */
const MAX_PAUSE_MS = 20;

/** How long a statement waits for an open connection before another connection is opened. */
const OPEN_AFTER_MS = 2;

/** The approximate time to open a connection. */
const OPENING_MS = 10;

export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<PostgresDatabase> {
  const pg = (await loadPackage('pg', () => import('pg'))).default;
  const where = describeUrl(url);
  const { statementTimeoutMs = 60_000, lockTimeoutMs = 30_000, connectTimeoutMs = 10_000 } = options;
  const settings = {
    connectionString: url,
    application_name: 'sluice',
    // In case the server stops responding: the client times out shortly after the server should have.
    query_timeout: statementTimeoutMs + 5_000,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  };
  const { connections = 10, steps = SCHEMA_STEPS } = options;
  const { schemaVersion = steps.length } = options;
  // Not as parameters of the connection, which poolers such as PgBouncer reject.
  const prepareConnection = callbackify(async (connection: ClientBase) =>
    connection.query(
      `SET search_path = sluice, public; SET sluice.schema_version = ${schemaVersion}; SET lock_timeout = ${lockTimeoutMs};
       SET statement_timeout = ${statementTimeoutMs}; SET idle_in_transaction_session_timeout = ${statementTimeoutMs}`,
    ),
  );
  const pool: Pool = new pg.Pool({
    ...settings,
    max: connections,
    // One connection stays open. Otherwise a worker that polls the queue occasionally would reconnect each time.
    min: 1,
    allowExitOnIdle: true,
    // A connection declares its schema version before it is used: tables reject writes with another version.
    verify: (connection, done) => prepareConnection(connection, (error) => done(error ?? undefined)),
  });
  const limiter = createConcurrencyLimiter({
    limit: connections,
    maxWaitMs: statementTimeoutMs,
    countOpen: () => pool.totalCount,
    openAfterMs: OPEN_AFTER_MS,
    openAfterTotalMs: OPENING_MS,
  });
  const toQuery = createStatementNamer();
  // A connection that breaks between two statements, idle or in a transaction, emits an error, which would crash the
  // process without a listener. The pool drops the connection, or the next statement fails.
  pool.on('error', () => undefined);
  pool.on('connect', (connection) => connection.on('error', () => undefined));

  /** Errors of transactions that do not come from the driver. */
  const workErrors = new WeakSet<Error>();

  async function runTransaction<T>(
    work: (transaction: Queryable & Session) => Promise<T>,
    { isLong = false }: TransactionOptions,
  ): Promise<T> {
    const connection = await pool.connect();
    const timeout = isLong ? { query_timeout: NO_TIMEOUT_MS } : {};
    const driverErrors = new Set<unknown>();
    const query: Queryable['query'] = async (text, values) =>
      connection.query({ ...toQuery(text, values), ...timeout }).catch((error: unknown) => {
        driverErrors.add(error);
        throw error;
      });
    try {
      await connection.query('BEGIN');
      const value = await work({ query, ...createSession(query) }).catch((error: unknown) => {
        if (error instanceof Error && !driverErrors.has(error)) workErrors.add(error);
        throw error;
      });
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
    if (isClosed) throw createClosedError();
  }

  /** Retries a command that the server rolled back because of a conflict. */
  async function retryConflicts<T>(command: () => Promise<T>): Promise<T> {
    checkOpen();
    for (let count = 1; ; count++) {
      try {
        return await limiter.run(command);
      } catch (error) {
        if (error instanceof Error && workErrors.has(error)) throw error;
        // After a migration, each connection has outdated plans once.
        const mostTries = isPlanOutdated(error) ? MAX_TRIES + connections : MAX_TRIES;
        if (count >= mostTries || !isRetryable(error)) throw toStoreError(error, where);
        // A random delay, so two conflicting transactions do not retry simultaneously.
        await sleep(Math.random() * MAX_PAUSE_MS * count);
      }
    }
  }

  const query: Queryable['query'] = async (text, values) => {
    checkOpen();
    if (isReadOnly(text) && values?.some(containsNul) === true) return { rows: [], rowCount: 0 };
    return retryConflicts(() => pool.query(toQuery(text, values)));
  };
  const transaction: PostgresDatabase['transaction'] = (work, transactionOptions = {}) =>
    retryConflicts(() => runTransaction(work, transactionOptions));

  return {
    connections,
    steps,
    query,
    ...createSession(query),
    transaction,
    exclusive: async (lock, work) =>
      transaction(async (session) => {
        // A separate statement, so the next statement sees the previous lock holder's changes.
        await session.query(`SELECT pg_advisory_xact_lock(${LOCK_KEY})`, [lock]);
        return work(session);
      }),
    tryExclusive: async (lock, work) =>
      transaction(async (session) => {
        const { rows } = await session.query(`SELECT pg_try_advisory_xact_lock(${LOCK_KEY}) AS is_locked`, [lock]);
        return rows[0]?.['is_locked'] === true ? work(session) : undefined;
      }),
    checkOpen,
    // The listening connection must not keep the process alive.
    createClient: () => new pg.Client({ ...settings, stream: () => new Socket().unref() }),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await pool.end();
    },
  };
}

/** Each connection stores a plan for every name, so the number of named statements is limited. */
const MAX_NAMES = 500;

/** Creates a function that names statements with values, so the server parses each of them once per connection. */
function createStatementNamer(): (text: string, values: readonly unknown[] | undefined) => QueryConfig {
  const names = new Map<string, string>();
  return (text, values) => {
    if (values === undefined) return { text };
    if (!names.has(text) && names.size < MAX_NAMES) names.set(text, `sluice-${names.size + 1}`);
    const name = names.get(text);
    return { text, values: [...values], ...(name === undefined ? {} : { name }) };
  };
}

/** Rolls back if the connection is still usable; otherwise closes it, which ends its transaction. */
async function releaseConnection(connection: PoolClient, error: unknown): Promise<void> {
  if (!isSluiceError(error) && !isConnectionUsable(error)) return connection.release(true);
  try {
    await connection.query('ROLLBACK');
    connection.release();
  } catch {
    connection.release(true);
  }
}

/** Returns host, port and database without the password, for messages. */
function describeUrl(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}` || 'the default address';
  } catch {
    // The driver also accepts addresses that are not URLs, such as a socket path.
    return 'this address';
  }
}

/** Loads a package that only this store needs, so users of other stores need not install it. */
export async function loadPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new StoreError(
      'PACKAGE_MISSING',
      `Cannot open the PostgreSQL store: the package "${name}" is not installed. Run "npm install ${name}", or use a SQLite file (sqlite:FILE).`,
      { cause },
    );
  }
}

/** Creates a session that executes the shared statements. */
function createSession(query: Queryable['query']): Session {
  const session: Session = {
    all: async (sql, values) => (await query(translate(sql), values)).rows,
    get: async (sql, values) => (await query(translate(sql), values)).rows[0],
    run: async (sql, values) => (await query(translate(sql), values)).rowCount ?? 0,
    change: async (change, values) => (await query(joinChange(change), values)).rows,
    transaction: async (work) => work(session),
  };
  return session;
}

const translated = new Map<string, string>();
/** Lists have a statement per combination of filters; beyond this many, statements are translated each time. */
const MAX_TRANSLATED = 1000;

/** Rewrites a shared statement for PostgreSQL (`Session` explains the notation). */
function translate(sql: string): string {
  const known = translated.get(sql);
  if (known !== undefined) return known;
  const text = sql
    .replaceAll(/ INDEXED BY \w+/g, '')
    .replaceAll('CROSS JOIN', 'JOIN')
    .replaceAll(/next_seq\((\w+)\)/g, "nextval('sluice.$1_seq_seq')")
    .replaceAll(/\bIN each\((\$\d+)\)/g, "= ANY(translate($1, '[]', '{}')::bigint[])")
    .replaceAll(/\beach\((\$\d+)\) AS (\w+)/g, 'json_array_elements_text($1::json) AS $2 (value)')
    // Of an array, the planner expects ten elements instead of a hundred, for which it would read small tables whole.
    .replaceAll(/\bobjects\((\$\d+)\) AS (\w+)/g, 'unnest(ARRAY(SELECT json_array_elements($1::json))) AS $2 (value)');
  if (translated.size < MAX_TRANSLATED) translated.set(sql, text);
  return text;
}

const joined = new WeakMap<GuardedChange, string>();

/** Joins the guard and the statements of a change into one statement, which is one round trip and one transaction. */
function joinChange(change: GuardedChange): string {
  const known = joined.get(change);
  if (known !== undefined) return known;
  const parts = change.statements.map((sql, index) => `change_${index} AS (${translate(sql)})`);
  const text = `WITH ${[`guard AS MATERIALIZED (${translate(change.guard)})`, ...parts].join(', ')} SELECT * FROM guard`;
  joined.set(change, text);
  return text;
}

/** Waits that are further apart are not added up, because a mostly idle process needs no additional connection. */
const MAX_WAIT_GAP_MS = 1000;

/**
 * Limits the number of concurrent callers; the others wait for their turn. The driver's pool has a queue too, but only one timeout for waiting and
 * connecting, so a burst of work would look like an unreachable server.
 */
export function createConcurrencyLimiter({
  limit,
  maxWaitMs,
  countOpen,
  openAfterMs = 0,
  openAfterTotalMs = Number.POSITIVE_INFINITY,
}: {
  /** The maximum number of concurrent callers. */
  readonly limit: number;
  /** A caller that has waited this long is rejected. */
  readonly maxWaitMs: number;
  /** Returns the number of open connections; with more callers, the pool opens another. */
  readonly countOpen?: () => number;
  /** How long a caller waits before another connection is opened, which takes much longer than most statements. */
  readonly openAfterMs?: number;
  /** How long successive callers wait in total until a connection is opened: about as long as opening it takes. */
  readonly openAfterTotalMs?: number;
}) {
  const waiting = new Set<() => void>();
  let busy = 0;
  /** The callers' total waiting time since the last connection was opened, and when it last grew. */
  let waitedMs = 0;
  let lastWait = Number.NEGATIVE_INFINITY;

  async function wait(): Promise<void> {
    const isFree = busy < Math.min(limit, Math.max(1, countOpen?.() ?? limit));
    if (isFree || (busy < limit && waitedMs >= openAfterTotalMs)) {
      if (!isFree) waitedMs = 0;
      busy += 1;
      return;
    }
    const since = performance.now();
    if (since - lastWait > MAX_WAIT_GAP_MS) waitedMs = 0;
    await new Promise<void>((resolve, reject) => {
      const openTimer = setTimeout(() => {
        if (busy >= limit) return;
        waitedMs = 0;
        busy += 1;
        waiting.delete(proceed);
        proceed();
      }, openAfterMs);
      const timer = setTimeout(() => {
        clearTimeout(openTimer);
        waiting.delete(proceed);
        reject(
          new StoreError(
            'STORE_BUSY',
            `The store is busy: no connection became free within ${maxWaitMs} ms, and ${waiting.size} other calls are waiting. Try again later, or send fewer concurrent requests.`,
          ),
        );
      }, maxWaitMs);
      const proceed = (): void => {
        clearTimeout(openTimer);
        clearTimeout(timer);
        resolve();
      };
      waiting.add(proceed);
    });
    lastWait = performance.now();
    waitedMs += lastWait - since;
  }

  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      await wait();
      try {
        return await work();
      } finally {
        // The turn passes directly to the next caller, so no other caller can take it in between.
        const [next] = waiting;
        if (next === undefined) busy -= 1;
        else {
          waiting.delete(next);
          next();
        }
      }
    },
  };
}
