import { createStore, type Store, type StoreOptions } from '../store.js';
import type { Dialect } from '../driver.js';
import { STORED_TABLES } from '../sql/schema.js';
import { createWakers, type Wakers } from '../wakers.js';
import { openDatabase, type DatabaseOptions, type SqliteDatabase } from './database.js';
import { createClaimNext } from './queue.js';
import { createClosedError } from '../store-error.js';
import {
  encodeBody,
  MIN_COMPRESSED_LENGTH,
  MIN_SENT_COMPRESSED_LENGTH,
  ROWS_PER_PAGE,
  subtractStored,
  type EventRow,
} from '../event-rows.js';
import { readNumber, readRange } from '../rows.js';

/** Opens a store in one file, which any number of processes on one host can use concurrently. */
export async function openSqliteStore(file: string, options: StoreOptions & DatabaseOptions = {}): Promise<Store> {
  const database = await openDatabase(file, options);
  try {
    return createStore(createDialect(database), options);
  } catch (error) {
    database.close();
    throw error;
  }
}

function createDialect(database: SqliteDatabase): Dialect {
  // A missing table means that the file is damaged.
  for (const { name } of STORED_TABLES) database.prepare(`SELECT 1 FROM ${name}`);
  const wakers = createWakers();
  const poller = createPoller(database, wakers);
  return {
    database,
    now: Date.now,
    synchronizeClock: async () => undefined,
    looksFirst: true,
    claimNext: createClaimNext(database),
    findWord: async (word, limit) => findWord(database, word, limit),
    ...createEvents(database),
    async announce({ queue = false, messages = false, runs = [], requests = [] }) {
      for (const run of requests) wakers.wake(`requests ${run}`);
      for (const run of runs) wakers.wake(run);
      if (queue || messages) wakers.wake(QUEUE);
    },
    ...createWatches(database, poller),
    async close() {
      poller.close();
      database.close();
    },
  };
}

export const FIND_WORD = 'SELECT rowid / 2 AS seq FROM run_trigrams WHERE run_trigrams MATCH ? LIMIT ?';
/** Enough to find a long word. */
const MAX_TRIGRAMS = 16;

/** Finds the runs that contain the trigrams of a word. */
async function findWord(database: SqliteDatabase, word: string, limit: number): Promise<readonly number[] | undefined> {
  // By code point, as the tokenizer does.
  const characters = Array.from(word).slice(0, MAX_TRIGRAMS + 2);
  if (characters.length < 3) return undefined;
  const trigrams = characters.slice(2).map((_, at) => characters.slice(at, at + 3));
  const query = trigrams.map((trigram) => `"${trigram.join('').replaceAll('"', '""')}"`).join(' AND ');
  return database.read(() =>
    database
      .prepare(FIND_WORD)
      .all(query, limit)
      .map((row) => readNumber(row, 'seq')),
  );
}

/** The key of the queue. The other keys are `requests` with a run id, and run ids, which contain no space. */
const QUEUE = 'queue';

/** Watches what other processes write: the queue, a run's events, state and decision, and the requests to a run. */
function createWatches(
  database: SqliteDatabase,
  poller: ReturnType<typeof createPoller>,
): Pick<Dialect, 'watchRun' | 'watchRequests' | 'watchQueue'> {
  const findProgress = database.prepare(`
    SELECT (SELECT max(last_seq) FROM event_packs WHERE run_id = ?1 AND protocol = 'fcmp' AND attempt = 0) AS fcmp,
      (SELECT attempt || ':' || last_seq FROM event_packs WHERE run_id = ?1 AND protocol = 'rasp'
       ORDER BY attempt DESC, last_seq DESC LIMIT 1) AS rasp,
      (SELECT state FROM runs WHERE id = ?1) AS state, (SELECT settled_at FROM orders WHERE run = ?1) AS settled_at`);
  const findRequests = database.prepare(
    'SELECT cancel_requested, reply FROM runs WHERE id = ? AND (cancel_requested OR reply IS NOT NULL)',
  );
  return {
    watchRun: (runId, wake) => poller.watch(runId, wake, { read: () => JSON.stringify(findProgress.get(runId)) }),
    // A new watcher of requests needs no call if there are none; that would cost every run a transaction.
    watchRequests: (runId, wake) =>
      poller.watch(`requests ${runId}`, wake, {
        read: () => JSON.stringify(findRequests.get(runId) ?? null),
        seen: 'null',
      }),
    // The watchers of other keys come and go with every run: they are no reason to look for work.
    watchQueue: (wake) => poller.watch(QUEUE, wake, { read: String }),
  };
}

/** The value that a key's watchers watch, given the version of the data, and the last value read. */
interface Watched {
  readonly read: (version: unknown) => string;
  seen?: string;
}

/** SQLite has no notifications, so a watcher in another process can be woken this late. */
const POLL_MS = 50;

/**
 * Creates a poller that checks at short intervals whether another connection has written, and wakes the watchers of
 * values that have changed. Writes by this process wake its watchers immediately.
 */
function createPoller(database: SqliteDatabase, wakers: Wakers) {
  const readVersion = database.prepare('PRAGMA data_version');
  const watched = new Map<string, Watched>();
  let version: unknown;
  /** Whether watchers were added since the last poll. */
  let hasNewWatchers = false;
  let isPolling = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  function poll(): void {
    const latest = readVersion.get()?.['data_version'];
    if (latest === version && !hasNewWatchers) return;
    for (const [key, value] of watched) {
      const current = value.read(latest);
      if (current !== value.seen) wakers.wake(key);
      value.seen = current;
    }
    // Set last: if reading failed because the file is locked, the next poll repeats it.
    version = latest;
    hasNewWatchers = false;
  }

  /** Starts a poll unless one is running: while the file is locked, polls would wait and accumulate. */
  function startPoll(): void {
    if (isPolling) return;
    isPolling = true;
    void database
      .read(poll)
      .catch(() => undefined)
      .finally(() => (isPolling = false));
  }

  return {
    watch(key: string, wake: () => void, value: Watched): () => void {
      if (isClosed) throw createClosedError();
      const stop = wakers.watch(key, wake);
      if (!watched.has(key)) watched.set(key, value);
      // Writes before a watcher was added might have been missed, so the next poll wakes it.
      hasNewWatchers = true;
      timer ??= setInterval(startPoll, POLL_MS).unref();
      return () => {
        stop();
        const keys = wakers.keys();
        if (!keys.includes(key)) watched.delete(key);
        if (keys.length === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      };
    },
    close(): void {
      isClosed = true;
      clearInterval(timer);
      timer = undefined;
      wakers.clear();
    },
  };
}

function createEvents(database: SqliteDatabase): Pick<Dialect, 'addEvents' | 'readBodies' | 'eventWrites'> {
  const insert = database.prepare(INSERT_EVENTS);
  const findEnd = database.prepare(FIND_END);
  const findStored = database.prepare(FIND_STORED);
  const findHolder = database.prepare(FIND_HOLDER);
  const selectRows = database.prepare(READ_EVENTS);
  const selectBody = database.prepare('SELECT body FROM event_packs WHERE rowid = ?');
  const readVersion = database.prepare('PRAGMA data_version');
  /** The last stored sequence number per run, protocol and attempt; valid while no other connection writes. */
  const ends = new Map<string, number>();
  let lastVersion: unknown;

  /** Inserts rows. A row after the last stored event skips the search for duplicates, which takes half the time. */
  function addRows(rows: readonly EventRow[], minLength: number): readonly EventRow[] {
    const version = readVersion.get()?.['data_version'];
    if (version !== lastVersion || ends.size > MAX_ENDS) ends.clear();
    lastVersion = version;
    const lost: EventRow[] = [];
    for (const row of rows) {
      const { runId, protocol, attempt, firstSeq, lastSeq, heldBy } = row;
      if (heldBy !== undefined && findHolder.get(runId, heldBy) === undefined) {
        lost.push(row);
        continue;
      }
      const key = `${protocol} ${attempt} ${runId}`;
      const end = ends.get(key) ?? readNumber(findEnd.get(runId, protocol, attempt) ?? NO_EVENTS, 'last_seq');
      const stored = firstSeq > end ? [] : findStored.all(runId, protocol, attempt, firstSeq, lastSeq).map(readRange);
      for (const missing of stored.length === 0 ? [row] : subtractStored(row, stored)) {
        const body = encodeBody(missing.lines, minLength);
        insert.run(runId, protocol, attempt, missing.firstSeq, missing.lastSeq, body);
      }
      ends.set(key, Math.max(end, lastSeq));
    }
    return lost;
  }

  let lastEnd = Number.NEGATIVE_INFINITY;

  return {
    eventWrites: 1,
    async addEvents(rows) {
      const hadToWait = performance.now() - lastEnd < MIN_PAUSE_MS;
      const hasManyRows = rows.length > (hadToWait ? FEW_ROWS : MANY_ROWS);
      let lost: readonly EventRow[] = [];
      await database.writeWithBackgroundSync(() => {
        lost = addRows(rows, hasManyRows ? MIN_SENT_COMPRESSED_LENGTH : MIN_COMPRESSED_LENGTH);
      });
      lastEnd = performance.now();
      return lost;
    },

    // The bodies are loaded one by one, because a page seldom needs all of its rows.
    readBodies: async (runId, protocol, { after, to }) => {
      const bounds = [after.attempt, after.seq, to.attempt, to.seq] as const;
      return database.read(() => {
        const rows = selectRows.all(runId, protocol, ...bounds, ROWS_PER_PAGE);
        return loadBodies(rows.map((row) => readNumber(row, 'rowid')));
      });
    },
  };

  function* loadBodies(ids: readonly number[]): Generator {
    for (const id of ids) yield selectBody.get(id)?.['body'];
  }
}

/** With more rows in one write, compressing small rows would take half the time. */
const MANY_ROWS = 64;
/** The same limit if one write directly follows another: few runs are writing large rows. */
const FEW_ROWS = 8;
/** A write that starts this soon after the previous write had to wait for it. */
const MIN_PAUSE_MS = 5;

/** Far more than the number of concurrently active runs, protocols and attempts. */
const MAX_ENDS = 10_000;

const NO_EVENTS = { last_seq: 0 };

const INSERT_EVENTS = `
  INSERT INTO event_packs (run_id, protocol, attempt, first_seq, last_seq, body) VALUES (?, ?, ?, ?, ?, ?)`;

const FIND_HOLDER = `SELECT 1 AS found FROM runs WHERE id = ? AND worker_id = ? AND state IN ('running', 'waiting')`;

export const FIND_END = `
  SELECT last_seq FROM event_packs WHERE run_id = ? AND protocol = ? AND attempt = ? ORDER BY last_seq DESC LIMIT 1`;

/** Finds the stored rows that overlap with a new row. */
export const FIND_STORED = `
  SELECT first_seq, last_seq FROM event_packs
  WHERE run_id = ? AND protocol = ? AND attempt = ? AND last_seq >= ? AND first_seq <= ?`;

/** Compares positions as pairs, which have an index. */
export const READ_EVENTS = `
  SELECT rowid FROM event_packs
  WHERE run_id = ? AND protocol = ? AND (attempt, last_seq) > (?, ?) AND (attempt, first_seq) <= (?, ?)
  ORDER BY attempt, last_seq LIMIT ?`;
