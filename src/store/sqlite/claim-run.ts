import type { RunResult } from '../../records/index.js';
import type { ClaimedRun, RunClaim, RunHold, RunStore } from '../../runs/index.js';
import { MAX_EXPIRED, storeSpec } from '../queue-rules.js';
import { buildFailureText, createDigest } from '../run-digest.js';
import { QUEUE } from '../wakers.js';
import type { Wakers } from '../wakers.js';
import type { Database } from './database.js';
import type { SqlRow } from './driver.js';
import { createQueue } from './queue.js';
import { readJsonOrNull, readOrder, readRun, readText } from './rows.js';

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

/** Creates the store's methods for claiming runs, and for starting, renewing, releasing and ending claimed runs. */
export function createClaimRun(database: Database, wakers: Wakers): ClaimRun {
  const digests = createRunDigests(database);
  const queue = createQueue(database);
  const claim = database.prepare(`
    UPDATE runs SET state = 'running', worker_id = ?, host = ?, pid = ?, pid_started = ?, lease_until = ?, not_before = 0, parked = 0
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
  const deleteStarts = database.prepare(`
    DELETE FROM repository_starts WHERE run IN (
      SELECT run FROM repository_starts JOIN runs ON runs.id = run WHERE runs.state = 'ended')`);
  const saveStart = database.prepare('INSERT OR REPLACE INTO repository_starts (run, start) VALUES (?, ?)');
  const findStart = database.prepare('SELECT start FROM repository_starts WHERE run = ?');
  const release = database.prepare(`UPDATE runs SET ${UNCLAIMED}, not_before = ? WHERE id = ?`);
  const renew = database.prepare('UPDATE runs SET state = ?, lease_until = ?, reply = NULL WHERE id = ?');
  const wait = database.prepare(`UPDATE runs SET state = ?, reply = NULL WHERE id = ?`);
  const adopt = database.prepare(`
    UPDATE runs SET worker_id = ?, host = ?, pid = ?, pid_started = ?, lease_until = ?
    WHERE id = ? AND worker_id = ? AND ${IS_HELD} AND started_at IS NOT NULL AND lease_until <= ? RETURNING *`);
  const end = database.prepare(END_RUN);
  const findAnyExpired = database.prepare(FIND_ANY_EXPIRED);
  const requeueExpired = database.prepare(`
    UPDATE runs SET ${UNCLAIMED} WHERE ${IS_HELD} AND started_at IS NULL AND lease_until <= ?`);
  const findExpired = database.prepare(`
    SELECT * FROM runs WHERE ${IS_HELD} AND started_at IS NOT NULL AND lease_until <= ?1
      AND sequence > coalesce((SELECT sequence FROM runs WHERE id = ?2), 0) AND (?3 IS NULL OR host = ?3)
    ORDER BY sequence LIMIT ?4`);

  /** Claims the next run, if any; `more` if the search must continue in another transaction. */
  const claimNext = async ({ worker, leaseMs, ...filter }: RunClaim): Promise<ClaimedRun | 'more' | undefined> =>
    database.write(() => {
      const next = queue.find(filter);
      if (typeof next !== 'number') return next;
      const { worker_id: workerId, host, pid, pid_started: pidStarted } = worker;
      const row = claim.get(workerId, host, pid, pidStarted, filter.now + leaseMs, next) ?? {};
      queue.advance(row);
      const record = readRun(row);
      const orderRow = record.order === null ? undefined : findOrder.get(record.id);
      const order = orderRow === undefined ? null : readOrder(orderRow);
      const unresolved = findUnresolved.all(JSON.stringify(order?.order.depends_on ?? []));
      return { record, order, unresolved: unresolved.map((each) => readText(each, 'value')) };
    });

  /** Changes a run inside a transaction, if the worker still holds the claim. */
  const updateIfHeld = async <T>({ id, workerId }: RunHold, lost: T, work: (row: SqlRow) => T): Promise<T> =>
    database.write(() => {
      const row = findHeld.get(id, workerId);
      return row === undefined ? lost : work(row);
    });

  return {
    async claimRun(runClaim) {
      for (;;) {
        const claimed = await claimNext(runClaim);
        if (claimed !== 'more') return claimed;
      }
    },

    markStarted: async ({ spec, baseCommit, repositoryStart, ...hold }) =>
      updateIfHeld(hold, 'lost', (row) => {
        if (row['cancel_requested'] === 1 && row['started_at'] === null) return 'canceled';
        start.run(
          hold.now,
          spec === undefined ? null : JSON.stringify(storeSpec(spec, 'running')),
          spec?.engine ?? null,
          hold.id,
        );
        if (baseCommit !== undefined) setBase.run(baseCommit, hold.id);
        if (repositoryStart !== undefined) {
          deleteStarts.run();
          saveStart.run(hold.id, repositoryStart);
        }
        return 'started';
      }),

    releaseRun: async ({ retryAt, ...hold }) =>
      updateIfHeld(hold, false, ({ started_at: startedAt }) => {
        if (startedAt !== null) return false;
        release.run(retryAt, hold.id);
        return true;
      }),

    renewRun: async ({ leaseMs, ...hold }) =>
      updateIfHeld<Awaited<ReturnType<RunStore['renewRun']>>>(
        hold,
        { held: false, cancel: false, reply: null },
        (row) => {
          const reply = readJsonOrNull(row, 'reply') as string | null;
          renew.run(reply === null ? readText(row, 'state') : 'running', hold.now + leaseMs, hold.id);
          return { held: true, cancel: row['cancel_requested'] === 1, reply };
        },
      ),

    markWaiting: async ({ isOver = false, ...hold }) =>
      updateIfHeld(hold, false, () => {
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
      const hasEnded = await updateIfHeld(hold, false, ({ order_run_id: order }) => {
        if (order !== null) return false;
        end.run(hold.now, JSON.stringify(result), hold.id);
        digests.close(hold.id, result);
        return true;
      });
      if (hasEnded) for (const key of [hold.id, QUEUE]) wakers.wake(key);
      return hasEnded;
    },

    hasExpiredRuns: async (now, host) => database.read(() => findAnyExpired.get(now, host ?? null) !== undefined),

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

    listExpiredRuns: async (now, { after, host } = {}) =>
      database.read(() => findExpired.all(now, after ?? null, host ?? null, MAX_EXPIRED).map(readRun)),
  };
}

const IS_HELD = `state IN ('running', 'waiting')`;
/** Also queried each time a worker reports that it is alive. */
export const FIND_ANY_EXPIRED = `
  SELECT 1 FROM runs INDEXED BY runs_busy WHERE ${IS_HELD} AND lease_until <= ?1 AND (?2 IS NULL OR host = ?2) LIMIT 1`;
const UNCLAIMED = `state = 'queued', parked = 0, lease_until = NULL, worker_id = NULL, host = NULL, pid = NULL, pid_started = NULL`;

/** Ends a run that has not ended. */
export const END_RUN = `
  UPDATE runs SET state = 'ended', lease_until = NULL, reply = NULL, ended_at = ?, result = ?
  WHERE id = ? AND state <> 'ended'`;

/** Maintains run digests, inside the transactions that change the runs. */
export interface RunDigests {
  add(id: string, words: string): void;
  close(id: string, result: RunResult): void;
}

/** Creates the digest methods. Digests are in a separate table, so a search does not read specs and results. */
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
