import type { RunStore } from '../ports/index.js';
import type { Dialect } from '../driver.js';
import { MAX_EXPIRED, storeSpec } from '../queue-rules.js';
import { readFlag, readJsonOrNull, readOrder, readRun, readText } from '../rows.js';
import { buildEndStatements, listDigestValues } from '../run-digest.js';
import { findOne } from './lists.js';

type Claims = Pick<
  RunStore,
  | 'claimRun'
  | 'markStarted'
  | 'releaseRun'
  | 'renewRun'
  | 'setWaiting'
  | 'adoptRun'
  | 'endRun'
  | 'requeueExpired'
  | 'findRepositoryStart'
  | 'hasExpiredRuns'
  | 'listExpiredRuns'
>;

/** Creates the store's methods for claiming runs, and for starting, renewing, releasing and ending claimed runs. */
export function createClaims({ database, announce, claimNext }: Dialect): Claims {
  return {
    async claimRun(claim) {
      const row = await claimNext(claim);
      if (row === undefined) return undefined;
      const record = readRun(row);
      if (record.order === null) return { record, order: null, unresolved: [] };
      const order = await findOne(database, 'SELECT * FROM order_records WHERE run = $1', [record.id], readOrder);
      const dependencies = order?.order.depends_on ?? [];
      if (dependencies.length === 0) return { record, order: order ?? null, unresolved: [] };
      const rows = await database.all(FIND_UNRESOLVED, [JSON.stringify(dependencies)]);
      // The database returns them in any order.
      const found = new Set(rows.map((each) => readText(each, 'issue_ref')));
      return { record, order: order ?? null, unresolved: dependencies.filter((issueRef) => found.has(issueRef)) };
    },

    async markStarted({ id, workerId, now, spec, baseCommit, repositoryStart }) {
      const stored = spec === undefined ? null : JSON.stringify(storeSpec(spec, 'running'));
      const values = [id, workerId, now, stored, spec?.engine ?? null, baseCommit ?? null, repositoryStart ?? null];
      const [held] = await database.change(START, values);
      if (held === undefined) return 'lost';
      return readFlag(held, 'is_canceled') ? 'canceled' : 'started';
    },

    releaseRun: async ({ id, workerId, retryAt }) => (await database.run(RELEASE, [id, workerId, retryAt])) > 0,

    async renewRun({ id, workerId, leaseMs, now }) {
      const [held] = await database.change(RENEW, [id, workerId, now + leaseMs]);
      if (held === undefined) return { held: false, cancel: false, reply: null };
      const reply = readJsonOrNull(held, 'reply') as string | null;
      return { held: true, cancel: readFlag(held, 'cancel_requested'), reply };
    },

    setWaiting: async ({ id, workerId, isWaiting = true }) =>
      (await database.run(WAIT, [id, workerId, isWaiting ? 'waiting' : 'running'])) > 0,

    async adoptRun({ id, from, worker, leaseMs, now }) {
      const { worker_id: workerId, host, pid, pid_started: pidStarted } = worker;
      return findOne(database, ADOPT, [id, from, workerId, host, pid, pidStarted, now + leaseMs, now], readRun);
    },

    async endRun({ id, workerId, result, now }) {
      const values = [id, workerId, now, JSON.stringify(result), ...listDigestValues(result)];
      const hasEnded = (await database.change(END, values)).length > 0;
      if (hasEnded) await announce({ queue: true, runs: [id] });
      return hasEnded;
    },

    hasExpiredRuns: async (now, host) => (await database.get(FIND_ANY_EXPIRED, [now, host ?? null])) !== undefined,

    async requeueExpired(now) {
      const requeued = await database.run(REQUEUE_EXPIRED, [now]);
      if (requeued > 0) await announce({ queue: true });
      return requeued;
    },

    findRepositoryStart: async (id) =>
      findOne(database, 'SELECT start FROM repository_starts WHERE run = $1', [id], (row) => readText(row, 'start')),

    async listExpiredRuns(now, { after, host } = {}) {
      const rows = await database.all(LIST_EXPIRED, [now, after ?? null, host ?? null, MAX_EXPIRED]);
      return rows.map(readRun);
    },
  };
}

const FIND_UNRESOLVED = `
  SELECT wanted.value AS issue_ref FROM each($1) AS wanted
  WHERE NOT EXISTS (SELECT 1 FROM issues WHERE issues.issue_ref = wanted.value AND state IN ('review', 'done'))`;

const IS_HELD = `state IN ('running', 'waiting')`;

const IS_STARTING = 'guard.is_canceled = 0';

/** Cancellation can be requested during the start. Also deletes the repository states of runs that have ended. */
const START = {
  guard: `
    SELECT id, CASE WHEN cancel_requested = 1 AND started_at IS NULL THEN 1 ELSE 0 END AS is_canceled
    FROM runs WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} FOR UPDATE`,
  statements: [
    `UPDATE runs SET started_at = coalesce(started_at, $3), spec = coalesce($4, spec), engine = coalesce($5, engine)
     FROM guard WHERE runs.id = guard.id AND ${IS_STARTING}`,
    `UPDATE orders SET base_commit = coalesce(base_commit, $6)
     FROM guard WHERE orders.run = guard.id AND ${IS_STARTING}`,
    `DELETE FROM repository_starts WHERE $7::text IS NOT NULL AND EXISTS (SELECT 1 FROM guard) AND run IN (
       SELECT ended.run FROM repository_starts AS ended JOIN runs ON runs.id = ended.run WHERE runs.state = 'ended')`,
    `INSERT INTO repository_starts (run, start)
     SELECT guard.id, $7::text FROM guard WHERE ${IS_STARTING} AND $7::text IS NOT NULL
     ON CONFLICT (run) DO UPDATE SET start = excluded.start`,
  ],
} as const;

const UNCLAIMED = `state = 'queued', parked = 0, lease_until = NULL, worker_id = NULL, host = NULL, pid = NULL, pid_started = NULL`;

const RELEASE = `
  UPDATE runs SET ${UNCLAIMED}, not_before = $3 WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} AND started_at IS NULL`;

const RENEW = {
  guard: `SELECT id, reply, cancel_requested FROM runs WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} FOR UPDATE`,
  statements: [
    `UPDATE runs SET lease_until = $3, reply = NULL, state = CASE WHEN guard.reply IS NULL THEN runs.state ELSE 'running' END
     FROM guard WHERE runs.id = guard.id`,
  ],
} as const;

const WAIT = `UPDATE runs SET state = $3, reply = NULL WHERE id = $1 AND worker_id = $2 AND ${IS_HELD}`;

const ADOPT = `
  UPDATE runs SET worker_id = $3, host = $4, pid = $5, pid_started = $6, lease_until = $7
  WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} AND started_at IS NOT NULL AND lease_until <= $8 RETURNING *`;

const END = {
  guard: `SELECT id FROM runs WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} AND order_run_id IS NULL FOR UPDATE`,
  statements: buildEndStatements('SELECT id FROM guard', { now: '$3', result: '$4', first: 5 }),
} as const;

/** Also queried each time a worker reports that it is alive. */
export const FIND_ANY_EXPIRED = `
  SELECT 1 AS found FROM runs INDEXED BY runs_busy
  WHERE ${IS_HELD} AND lease_until <= $1 AND ($2::text IS NULL OR host = $2) LIMIT 1`;

/** Skips rows that another process is requeueing. */
const REQUEUE_EXPIRED = `
  UPDATE runs SET ${UNCLAIMED} WHERE seq = ANY (ARRAY(
    SELECT seq FROM runs WHERE ${IS_HELD} AND started_at IS NULL AND lease_until <= $1
    ORDER BY seq FOR NO KEY UPDATE SKIP LOCKED))`;

const LIST_EXPIRED = `
  SELECT * FROM runs WHERE ${IS_HELD} AND started_at IS NOT NULL AND lease_until <= $1
    AND seq > coalesce((SELECT seq FROM runs WHERE id = $2), 0) AND ($3::text IS NULL OR host = $3)
  ORDER BY seq LIMIT $4`;
