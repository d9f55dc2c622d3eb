import type { RunResult } from '../../records/index.js';
import type { RunHold, RunStore } from '../../runs/index.js';
import { EXPIRED_AT_ONCE, storeSpec } from '../queue-rules.js';
import { buildFailureText, createDigest } from '../run-digest.js';
import { QUEUE } from '../wakers.js';
import type { Wakers } from '../wakers.js';
import type { Database } from './database.js';
import type { SqlRow, SqlValue } from './driver.js';
import { readInteger, readJsonOrNull, readOrder, readRun, readText } from './rows.js';

type ClaimRun = Pick<
  RunStore,
  | 'claimRun'
  | 'markStarted'
  | 'releaseRun'
  | 'renewRun'
  | 'markWaiting'
  | 'adoptRun'
  | 'endRun'
  | 'requeueExpired'
  | 'findRepositoryStart'
  | 'hasExpiredRuns'
  | 'listExpiredRuns'
>;

/** Claims runs, and lets the holder of a claim start, renew, release and end them. */
export function createClaimRun(database: Database, wakers: Wakers): ClaimRun {
  const digests = createRunDigests(database);
  const countBusy = database.prepare(COUNT_BUSY);
  const findNext = database.prepare(FIND_NEXT);
  const findNextOfLanes = database.prepare(FIND_NEXT_OF_LANES);
  const findNextOfAll = database.prepare(FIND_NEXT_OF_ALL);
  const claim = database.prepare(`
    UPDATE runs SET state = 'running', worker_id = ?, host = ?, pid = ?, pid_started = ?, lease_until = ?, not_before = 0
    WHERE sequence = ? RETURNING *`);
  const findOrder = database.prepare('SELECT * FROM order_records WHERE run = ?');
  const findUnresolved = database.prepare(`
    SELECT value FROM json_each(?)
    WHERE NOT EXISTS (SELECT 1 FROM issues WHERE issue_ref = value AND state IN ('review', 'done'))
    ORDER BY key`);
  const findHeld = database.prepare(`SELECT * FROM runs WHERE id = ? AND worker_id = ? AND ${IS_HELD}`);
  const start = database.prepare(`
    UPDATE runs SET started_at = coalesce(started_at, ?), spec = coalesce(?, spec), engine = coalesce(?, engine)
    WHERE id = ?`);
  const setBase = database.prepare('UPDATE orders SET base_commit = coalesce(base_commit, ?) WHERE run = ?');
  const forgetStarts = database.prepare(`
    DELETE FROM repository_starts WHERE run IN (
      SELECT run FROM repository_starts JOIN runs ON runs.id = run WHERE runs.state = 'ended')`);
  const keepStart = database.prepare('INSERT OR REPLACE INTO repository_starts (run, start) VALUES (?, ?)');
  const findStart = database.prepare('SELECT start FROM repository_starts WHERE run = ?');
  const release = database.prepare(`UPDATE runs SET ${UNCLAIMED}, not_before = ? WHERE id = ?`);
  const renew = database.prepare('UPDATE runs SET state = ?, lease_until = ?, reply = NULL WHERE id = ?');
  const wait = database.prepare(`UPDATE runs SET state = ?, reply = NULL WHERE id = ?`);
  const adopt = database.prepare(`
    UPDATE runs SET worker_id = ?, host = ?, pid = ?, pid_started = ?, lease_until = ?
    WHERE id = ? AND worker_id = ? AND ${IS_HELD} AND started_at IS NOT NULL AND lease_until <= ? RETURNING *`);
  const end = database.prepare(END_RUN);
  const findAnyExpired = database.prepare(
    `SELECT 1 FROM runs INDEXED BY runs_busy WHERE ${IS_HELD} AND lease_until <= ? LIMIT 1`,
  );
  const requeueExpired = database.prepare(`
    UPDATE runs SET ${UNCLAIMED} WHERE ${IS_HELD} AND started_at IS NULL AND lease_until <= ?`);
  const findExpired = database.prepare(`
    SELECT * FROM runs WHERE ${IS_HELD} AND started_at IS NOT NULL AND lease_until <= ?
      AND sequence > coalesce((SELECT sequence FROM runs WHERE id = ?), 0)
    ORDER BY sequence LIMIT ?`);

  /** The next run: among the first in the queue, else the first of each lane, unless there are too many of those. */
  function find(wanted: readonly SqlValue[]): SqlRow | undefined {
    const next = findNext.get(...wanted);
    if (next !== undefined) return next;
    const first = findNextOfLanes.get(...wanted) ?? {};
    if (readInteger(first, 'lanes') > MOST_LANES) return findNextOfAll.get(...wanted);
    return first['sequence'] === null ? undefined : first;
  }

  /** Changes a run, inside a transaction, if the worker still holds the claim. */
  const whileHeld = async <T>({ id, workerId }: RunHold, lost: T, work: (row: SqlRow) => T): Promise<T> =>
    database.write(() => {
      const row = findHeld.get(id, workerId);
      return row === undefined ? lost : work(row);
    });

  return {
    claimRun: async ({ worker, leaseMs, now, takes, concurrency = {}, workerTypes }) =>
      database.write(() => {
        const busy = new Map(
          countBusy.all().map((row): [string, number] => [readText(row, 'worker_type'), readInteger(row, 'busy')]),
        );
        const full = Object.entries(concurrency).filter(([type, most]) => (busy.get(type) ?? 0) >= most);
        const next = find([
          now,
          takes?.includes('orders') === false ? 0 : 1,
          takes?.includes('runs') === false ? 0 : 1,
          JSON.stringify(full.map(([type]) => type)),
          workerTypes === undefined ? null : JSON.stringify(workerTypes),
        ]);
        if (next === undefined) return undefined;
        const { worker_id: workerId, host, pid, pid_started: pidStarted } = worker;
        const row = claim.get(workerId, host, pid, pidStarted, now + leaseMs, readInteger(next, 'sequence'));
        const record = readRun(row ?? {});
        const orderRow = record.order === null ? undefined : findOrder.get(record.id);
        const order = orderRow === undefined ? null : readOrder(orderRow);
        const unresolved = findUnresolved.all(JSON.stringify(order?.order.depends_on ?? []));
        return { record, order, unresolved: unresolved.map((each) => readText(each, 'value')) };
      }),

    markStarted: async ({ spec, baseCommit, repositoryStart, ...hold }) =>
      whileHeld(hold, 'lost', (row) => {
        if (row['cancel_requested'] === 1 && row['started_at'] === null) return 'canceled';
        start.run(
          hold.now,
          spec === undefined ? null : JSON.stringify(storeSpec(spec, 'running')),
          spec?.engine ?? null,
          hold.id,
        );
        if (baseCommit !== undefined) setBase.run(baseCommit, hold.id);
        if (repositoryStart !== undefined) {
          forgetStarts.run();
          keepStart.run(hold.id, repositoryStart);
        }
        return 'started';
      }),

    releaseRun: async ({ retryAt, ...hold }) =>
      whileHeld(hold, false, ({ started_at: startedAt }) => {
        if (startedAt !== null) return false;
        release.run(retryAt, hold.id);
        return true;
      }),

    renewRun: async ({ leaseMs, ...hold }) =>
      whileHeld<Awaited<ReturnType<RunStore['renewRun']>>>(hold, { held: false, cancel: false, reply: null }, (row) => {
        const reply = readJsonOrNull(row, 'reply') as string | null;
        renew.run(reply === null ? readText(row, 'state') : 'running', hold.now + leaseMs, hold.id);
        return { held: true, cancel: row['cancel_requested'] === 1, reply };
      }),

    markWaiting: async ({ isOver = false, ...hold }) =>
      whileHeld(hold, false, () => {
        wait.run(isOver ? 'running' : 'waiting', hold.id);
        return true;
      }),

    adoptRun: async ({ id, from, worker, leaseMs, now }) =>
      database.write(() => {
        const { worker_id: workerId, host, pid, pid_started: pidStarted } = worker;
        const row = adopt.get(workerId, host, pid, pidStarted, now + leaseMs, id, from, now);
        return row === undefined ? undefined : readRun(row);
      }),

    async endRun({ result, ...hold }) {
      const hasEnded = await whileHeld(hold, false, ({ order_run_id: order }) => {
        if (order !== null) return false;
        end.run(hold.now, JSON.stringify(result), hold.id);
        digests.close(hold.id, result);
        return true;
      });
      if (hasEnded) for (const key of [hold.id, QUEUE]) wakers.wake(key);
      return hasEnded;
    },

    hasExpiredRuns: async (now) => database.read(() => findAnyExpired.get(now) !== undefined),

    async requeueExpired(now) {
      const requeued = Number(await database.write(() => requeueExpired.run(now).changes));
      if (requeued > 0) wakers.wake(QUEUE);
      return requeued;
    },

    findRepositoryStart: async (id) =>
      database.read(() => {
        const row = findStart.get(id);
        return row === undefined ? undefined : readText(row, 'start');
      }),

    listExpiredRuns: async (now, after) =>
      database.read(() => findExpired.all(now, after ?? null, EXPIRED_AT_ONCE).map(readRun)),
  };
}

/** With more lanes than this, stepping through lanes is no faster than stepping through runs. */
const MOST_LANES = 2000;

/** As in the index `runs_lanes`. */
const LANE = `(folder || char(10) || exclusive || char(10) || coalesce(worker_type, ''))`;

const IS_HELD = `state IN ('running', 'waiting')`;
const UNCLAIMED = `state = 'queued', lease_until = NULL, worker_id = NULL, host = NULL, pid = NULL, pid_started = NULL`;

/** Ends a run that has not ended. */
export const END_RUN = `
  UPDATE runs SET state = 'ended', lease_until = NULL, reply = NULL, ended_at = ?, result = ?
  WHERE id = ? AND state <> 'ended'`;

const COUNT_BUSY = `
  SELECT worker_type, count(*) AS busy FROM runs INDEXED BY runs_busy
  WHERE ${IS_HELD} AND worker_type IS NOT NULL GROUP BY worker_type`;

/**
 * Two runs share a folder only if neither needs it exclusively. A canceled order needs no folder: it is settled without a
 * process.
 */
const IS_CLAIMABLE = `
  not_before <= ?1
    AND CASE WHEN order_run_id IS NULL THEN ?3 ELSE ?2 END = 1
    AND (worker_type IS NULL OR worker_type NOT IN (SELECT value FROM json_each(?4)))
    AND (worker_type IS NULL OR ?5 IS NULL OR worker_type IN (SELECT value FROM json_each(?5)))
    AND (cancel_requested = 1 OR NOT EXISTS (
      SELECT 1 FROM runs AS busy INDEXED BY runs_busy
      WHERE busy.folder = queued.folder AND busy.state IN ('running', 'waiting')
        AND (busy.exclusive = 1 OR queued.exclusive = 1)))`;

/** The index is named because SQLite, without statistics, would choose one that needs sorting. */
const FIND_NEXT_OF_ALL = `
  SELECT sequence FROM runs AS queued INDEXED BY runs_queued
  WHERE state = 'queued' AND ${IS_CLAIMABLE}
  ORDER BY priority DESC, sequence LIMIT 1`;

/** Most of the time one of the first can be claimed. */
export const FIND_NEXT = `
  SELECT sequence FROM (
    SELECT * FROM runs INDEXED BY runs_queued WHERE state = 'queued' ORDER BY priority DESC, sequence LIMIT 256
  ) AS queued
  WHERE ${IS_CLAIMABLE}
  ORDER BY priority DESC, sequence LIMIT 1`;

/**
 * Otherwise thousands may wait for a few folders. Runs of one lane (folder, way of using it, worker type) can all be claimed
 * or none of them, apart from canceled ones, so the first of each lane is enough: this steps from lane to lane.
 */
export const FIND_NEXT_OF_LANES = `
  WITH RECURSIVE lanes (lane) AS MATERIALIZED (
    SELECT * FROM (SELECT ${LANE} FROM runs INDEXED BY runs_lanes WHERE state = 'queued' ORDER BY ${LANE} LIMIT 1)
    UNION ALL
    SELECT (
      SELECT ${LANE} FROM runs INDEXED BY runs_lanes WHERE state = 'queued' AND ${LANE} > lanes.lane
      ORDER BY ${LANE} LIMIT 1) AS next
    FROM lanes WHERE lanes.lane IS NOT NULL LIMIT ${MOST_LANES + 1}
  ), firsts (sequence) AS (
    SELECT (
      SELECT sequence FROM runs INDEXED BY runs_lanes WHERE state = 'queued' AND ${LANE} = lanes.lane AND not_before <= ?1
      ORDER BY priority DESC, sequence LIMIT 1)
    FROM lanes
    UNION
    SELECT sequence FROM runs INDEXED BY runs_queued_canceled WHERE state = 'queued' AND cancel_requested = 1
  )
  SELECT (SELECT count(*) FROM lanes) AS lanes, (
    SELECT queued.sequence FROM firsts JOIN runs AS queued ON queued.sequence = firsts.sequence
    WHERE ${IS_CLAIMABLE}
    ORDER BY priority DESC, queued.sequence LIMIT 1) AS sequence`;

/** Maintains the digests of runs, inside the transactions that change the runs. */
export interface RunDigests {
  add(id: string, words: string): void;
  close(id: string, result: RunResult): void;
}

/** Digests are a separate table, so that a search does not read specs and results. */
export function createRunDigests(database: Database): RunDigests {
  const insert = database.prepare(`
    INSERT INTO run_digests (sequence, engine, created_at, words)
    SELECT sequence, engine, created_at, ? FROM runs WHERE id = ? ON CONFLICT DO NOTHING`);
  const close = database.prepare(`
    UPDATE run_digests SET outcome = ?, repair_level = ?, engine_version = ?, unknown_types = ?, unknown_fields = ?, usage = ?,
      words = words || ?, started_at = runs.started_at, ended_at = runs.ended_at
    FROM runs WHERE runs.id = ? AND run_digests.sequence = runs.sequence`);
  const addToCount = database.prepare(
    'INSERT INTO runs_to_count (sequence) SELECT sequence FROM runs WHERE id = ? ON CONFLICT DO NOTHING',
  );
  return {
    add(id, words) {
      insert.run(words, id);
    },
    close(id, result) {
      const { outcome, repair_level, engine_version, unknown_types, unknown_fields, usage } = createDigest(result);
      const failure = buildFailureText(result);
      const used = usage === null ? null : JSON.stringify(usage);
      close.run(outcome, repair_level, engine_version, unknown_types, unknown_fields, used, failure, id);
      addToCount.run(id);
    },
  };
}
