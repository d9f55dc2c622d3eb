import { randomUUID } from 'node:crypto';
import { createStore, type Store, type StoreOptions } from '../store.js';
import type { Dialect, Row } from '../driver.js';
import { measureClock } from './clock.js';
import { openDatabase, type PostgresDatabase, type Queryable } from './database.js';
import { migrate } from './migrate.js';
import { createNotifications } from './notifications.js';
import type { RunClaim } from '../ports/index.js';
import {
  CHARACTERS_PER_PAGE,
  encodeBody,
  MIN_SENT_COMPRESSED_LENGTH,
  ROWS_PER_PAGE,
  subtractStored,
  type EventRow,
} from '../event-rows.js';
import { readNumber, readRange } from '../rows.js';
import { listLabelSets } from '../queue-rules.js';
import { isDuplicate } from './database-error.js';

/** Opens a store that any number of hosts can share. Its tables are in the schema `sluice`. */
export async function openPostgresStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const database = await openDatabase(url, options.pool === undefined ? {} : { connections: options.pool });
  try {
    await migrate(database);
    const dialect = createDialect(database, await measureClock(database));
    return createStore({ ...dialect, findWord: await createFindWord(database) }, options);
  } catch (error) {
    await database.close();
    throw error;
  }
}

function createDialect(database: PostgresDatabase, clock: Awaited<ReturnType<typeof measureClock>>): Dialect {
  const notifications = createNotifications(database);
  return {
    database,
    now: clock.now,
    synchronizeClock: clock.synchronize,
    looksFirst: false,
    claimNext: async (claim) => claimNext(database, notifications.listener, claim),
    ...createEvents(database),
    // Triggers announce everything else, in the same transaction.
    async announce({ messages = false }) {
      if (messages) await database.query('SELECT sluice.wake_deliverer()');
    },
    watchRun: notifications.follow,
    watchRequests: notifications.watchRequests,
    watchQueue: (wake, watcher) => notifications.watchQueue({ worker: randomUUID(), ...watcher }, wake),
    async close() {
      await notifications.close();
      await database.close();
    },
  };
}

/** Creates the search by index; undefined if there is none. Only words with a trigram of letters and digits are in it. */
async function createFindWord(database: Queryable): Promise<Dialect['findWord']> {
  const { rows } = await database.query(FIND_INDEX);
  if (rows[0] === undefined) return undefined;
  // In a database with the locale C, only ASCII has letters.
  const trigram = rows[0]['is_unicode'] === true ? /[\p{L}\p{N}]{3}/u : /[a-z0-9]{3}/;
  return async (word, limit) => {
    if (!trigram.test(word)) return undefined;
    const pattern = `%${word.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
    const found = await database.query('SELECT sluice.find_word($1, $2) AS seq', [pattern, limit]);
    return found.rows.map((row) => readNumber(row, 'seq'));
  };
}

const FIND_INDEX = `
  SELECT '中' ~ '[[:alpha:]]' AS is_unicode FROM pg_index
  WHERE indexrelid = to_regclass('sluice.run_words_by_trigram') AND indisvalid`;

/**
 * Each round waits for another worker's claim, or parks a hundred runs: marks them to be skipped while their folder is
 * in use. After this many rounds, the next wake-up continues.
 */
const MAX_ROUNDS = 1000;

/** `sluice.claim_run` is in `tables.ts`. One call is one transaction, which commits before its result is returned. */
const CLAIM = `
  SELECT (claimed.run).*, contended, is_more, work_order, base_commit, race_group
  FROM sluice.claim_run($1, $2, $3, $4, $5, $6, $7::text[], $8::text[], $9::double precision[], $10, $11, $12, $13, $14, $15, $16) AS claimed
  LEFT JOIN sluice.orders ON orders.run = (claimed.run).id`;

/** Claims the next run; returns its row. `listener` is the number that this process's watchers are registered with. */
async function claimNext(
  database: Queryable,
  listener: string | null,
  { worker, leaseMs, now, kinds, concurrency = {}, workerTypes, labels, watcher, isLast = false }: RunClaim,
): Promise<Row | undefined> {
  const limits = Object.entries(concurrency);
  const values = [
    worker.worker_id,
    worker.host,
    worker.pid,
    worker.pid_started,
    now + leaseMs,
    now,
    workerTypes ?? null,
    limits.map(([type]) => type),
    limits.map(([, limit]) => limit),
    kinds?.includes('orders') !== false,
    kinds?.includes('runs') !== false,
    listLabelSets(labels),
    watcher === undefined ? null : listener,
    watcher ?? null,
    isLast,
  ];
  let waitFor: unknown = null;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { rows } = await database.query(CLAIM, [...values, waitFor]);
    const [row] = rows;
    if (row === undefined || typeof row['id'] === 'string') return row;
    waitFor = row['contended'];
    if (waitFor === null && row['is_more'] !== true) return undefined;
  }
  return undefined;
}

/**
 * Creates the storage of events. The cost of a statement hardly depends on the number of its rows. Only followers are
 * notified: PostgreSQL commits transactions with notifications one at a time.
 */
function createEvents(database: PostgresDatabase): Pick<Dialect, 'addEvents' | 'readBodies' | 'eventWrites'> {
  return {
    // Appending events must not use all of a worker's connections, because it also renews its claims through them.
    eventWrites: database.connections > 2 ? 2 : 1,
    async addEvents(rows) {
      const added = await insertRows(database, rows).catch((error: unknown) => {
        if (isDuplicate(error)) return undefined;
        throw error;
      });
      if (added === rows.length) return [];
      // Some events are stored already, or belong to a run that its worker does not hold; others might be inserted now.
      const lost: EventRow[] = [];
      for (const row of rows) if (!(await insertMissing(database, row))) lost.push(row);
      return lost;
    },
    async readBodies(runId, protocol, { after, to, limit }) {
      const bounds = [after.attempt, after.seq, to.attempt, to.seq];
      const { rows } = await database.query(READ_EVENTS, [runId, protocol, ...bounds, limit]);
      return rows.map((row) => row['body']);
    },
  };
}

/**
 * Inserts the rows that have no stored events yet, and returns their number. One statement is one transaction, so a
 * notified reader finds the events. All bodies are one parameter, because the driver would escape each byte of an
 * array. `ON CONFLICT DO NOTHING` would make each row a third more expensive; instead, the statement fails if another
 * process stores the same events.
 */
async function insertRows(database: Queryable, rows: readonly EventRow[]): Promise<number> {
  const bodies = rows.map(({ lines }) => encodeBody(lines, MIN_SENT_COMPRESSED_LENGTH));
  let offset = 1;
  const offsets = bodies.map((body) => (offset += body.length) - body.length);
  const { rows: returned } = await database.query(INSERT_EVENTS, [
    rows.map(({ runId }) => runId),
    rows.map(({ protocol }) => protocol),
    rows.map(({ attempt }) => attempt),
    rows.map(({ firstSeq }) => firstSeq),
    rows.map(({ lastSeq }) => lastSeq),
    offsets,
    bodies.map((body) => body.length),
    Buffer.concat(bodies),
    [...new Set(rows.map(({ runId }) => runId))],
    rows.map(({ heldBy }) => heldBy ?? null),
  ]);
  return readNumber(returned[0] ?? {}, 'added');
}

/** An attempt fails if another process stores some of the same events concurrently. */
const MAX_TRIES = 5;

/** Inserts the part of a row that is not stored yet; false if its worker does not hold the run. Writers of one run take turns, so no event is stored twice. */
async function insertMissing(database: PostgresDatabase, row: EventRow): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await database.transaction(async (transaction) => insertInTurn(transaction, row));
    } catch (error) {
      if (tries === MAX_TRIES || !isDuplicate(error)) throw error;
    }
  }
}

async function insertInTurn(transaction: Queryable, row: EventRow): Promise<boolean> {
  const { runId, protocol, attempt, firstSeq, lastSeq, heldBy } = row;
  if (heldBy !== undefined && (await transaction.query(LOCK_HELD, [runId, heldBy])).rows.length === 0) return false;
  await transaction.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [runId]);
  const { rows: stored } = await transaction.query(
    `SELECT first_seq, last_seq FROM sluice.event_packs
     WHERE run_id = $1 AND protocol = $2 AND attempt = $3 AND last_seq >= $4 AND first_seq <= $5`,
    [runId, protocol, attempt, firstSeq, lastSeq],
  );
  const missing = subtractStored(row, stored.map(readRange));
  if (missing.length > 0) await insertRows(transaction, missing);
  return true;
}

/** Locked, so the claim cannot move before the events are stored. */
const LOCK_HELD = `
  SELECT 1 AS found FROM sluice.runs WHERE id = $1 AND worker_id = $2 AND state IN ('running', 'waiting') FOR KEY SHARE`;

/** `OFFSET 0` makes the planner look up stored rows in the index, row by row, regardless of its statistics. */
const INSERT_EVENTS = `
  WITH packs AS (
    SELECT run_id, protocol, attempt, first_seq, last_seq, substring($8::bytea FROM start FOR length) AS body
    FROM unnest($1::text[], $2::text[], $3::integer[], $4::integer[], $5::integer[], $6::integer[], $7::integer[], $10::text[])
      AS packs (run_id, protocol, attempt, first_seq, last_seq, start, length, held_by)
    WHERE held_by IS NULL OR EXISTS (
      SELECT FROM sluice.runs WHERE id = run_id AND worker_id = held_by AND state IN ('running', 'waiting') FOR KEY SHARE)
  ), added AS (
    INSERT INTO sluice.event_packs (run_id, protocol, attempt, first_seq, last_seq, body)
    SELECT * FROM packs
    WHERE NOT EXISTS (
      SELECT FROM sluice.event_packs AS stored
      WHERE stored.run_id = packs.run_id AND stored.protocol = packs.protocol AND stored.attempt = packs.attempt
        AND stored.last_seq >= packs.first_seq AND stored.first_seq <= packs.last_seq
      OFFSET 0)
    RETURNING 1
  ), announced AS MATERIALIZED (
    SELECT pg_notify('sluice_' || listener, 'run ' || run_id) FROM sluice.followers WHERE run_id = ANY ($9::text[])
  )
  SELECT (SELECT count(*) FROM added) AS added, (SELECT count(*) FROM announced)`;

/** Reads no more rows than a page needs. The first can start before the page. */
const READ_EVENTS = `
  SELECT body FROM (
    SELECT attempt, last_seq, body,
      sum(last_seq - CASE WHEN attempt = $3 THEN greatest(first_seq - 1, $4) ELSE first_seq - 1 END) OVER before AS events,
      sum(octet_length(body)) OVER before AS bytes
    FROM (
      SELECT * FROM sluice.event_packs
      WHERE run_id = $1 AND protocol = $2 AND (attempt, last_seq) > ($3, $4) AND (attempt, first_seq) <= ($5, $6)
      ORDER BY attempt, last_seq LIMIT ${ROWS_PER_PAGE}
    ) AS found
    WINDOW before AS (ORDER BY attempt, last_seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
  ) AS counted
  WHERE coalesce(events, 0) < $7 AND coalesce(bytes, 0) < ${CHARACTERS_PER_PAGE}
  ORDER BY attempt, last_seq`;
