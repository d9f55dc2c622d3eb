import type { OrderRecord } from '../../records/index.js';
import type { RunStore } from '../../runs/index.js';
import { MAX_EXPIRED, storeSpec } from '../queue-rules.js';
import { readColumns, readOrder, buildDigestUpdate, listDigestValues, readRun } from './rows.js';
import type { Context } from './context.js';
import type { Queryable, Row } from './driver.js';

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
export function createClaimRun({ database, notifications }: Context): ClaimRun {
  return {
    async claimRun({ worker, leaseMs, now, takes, concurrency = {}, workerTypes, watcher, isLast = false }) {
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
        takes?.includes('orders') !== false,
        takes?.includes('runs') !== false,
        watcher === undefined ? null : notifications.listener,
        watcher ?? null,
        isLast,
      ];
      const claimed = await claimNext(database, values);
      if (claimed === undefined) return undefined;
      const record = readRun(claimed);
      if (record.order === null) return { record, order: null, unresolved: [] };
      const order = readClaimedOrder(claimed) ?? (await findClaimedOrder(database, record.id));
      return { record, order, unresolved: await findUnresolved(database, order?.order.depends_on ?? []) };
    },

    async markStarted({ id, workerId, now, spec, baseCommit, repositoryStart }) {
      // A single update, because cancellation can be requested during the start. It also deletes the recorded
      // repository states (`expired`) of runs that have ended.
      const { rows } = await database.query(
        `WITH started AS (UPDATE sluice.runs SET
           started_at = CASE WHEN ${IS_CANCELED} THEN started_at ELSE COALESCE(started_at, $3) END,
           spec = CASE WHEN ${IS_CANCELED} THEN spec ELSE COALESCE($4, spec) END,
           engine = CASE WHEN ${IS_CANCELED} THEN engine ELSE COALESCE($5, engine) END
         WHERE id = $1 AND worker_id = $2 AND ${IS_HELD}
         RETURNING id, started_at
         ), based AS (
           UPDATE sluice.orders SET base_commit = COALESCE(base_commit, $6)
           FROM started WHERE run = started.id AND started.started_at IS NOT NULL
         ), expired AS (
           DELETE FROM sluice.repository_starts USING sluice.runs
           WHERE $7::text IS NOT NULL AND runs.id = run AND runs.state = 'ended'
         ), kept AS (
           INSERT INTO sluice.repository_starts (run, start)
           SELECT id, $7 FROM started WHERE started_at IS NOT NULL AND $7::text IS NOT NULL
           ON CONFLICT (run) DO UPDATE SET start = excluded.start
         )
         SELECT started_at FROM started`,
        [
          id,
          workerId,
          now,
          spec === undefined ? null : JSON.stringify(storeSpec(spec, 'running')),
          spec?.engine ?? null,
          baseCommit ?? null,
          repositoryStart ?? null,
        ],
      );
      if (rows[0] === undefined) return 'lost';
      return rows[0]['started_at'] === null ? 'canceled' : 'started';
    },

    async releaseRun({ id, workerId, retryAt }) {
      const { rows } = await database.query(
        `UPDATE sluice.runs SET ${UNCLAIMED}, not_before = $3
         WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} AND started_at IS NULL
         RETURNING true AS done`,
        [id, workerId, retryAt],
      );
      return rows.length > 0;
    },

    async renewRun({ id, workerId, leaseMs, now }) {
      const { rows } = await database.query(
        `WITH held AS (
           SELECT seq, reply FROM sluice.runs WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} FOR UPDATE
         )
         UPDATE sluice.runs SET
           lease_until = $3,
           reply = NULL,
           state = CASE WHEN held.reply IS NULL THEN state ELSE 'running' END
         FROM held
         WHERE runs.seq = held.seq
         RETURNING cancel_requested, held.reply AS taken`,
        [id, workerId, now + leaseMs],
      );
      if (rows[0] === undefined) return { held: false, cancel: false, reply: null };
      const { flag, jsonOrNull } = readColumns(rows[0]);
      return { held: true, cancel: flag('cancel_requested'), reply: jsonOrNull('taken') as string | null };
    },

    async markWaiting({ id, workerId, isOver = false }) {
      const { rows } = await database.query(
        `UPDATE sluice.runs SET state = $3, reply = NULL
         WHERE id = $1 AND worker_id = $2 AND ${IS_HELD}
         RETURNING true AS done`,
        [id, workerId, isOver ? 'running' : 'waiting'],
      );
      return rows.length > 0;
    },

    async adoptRun({ id, from, worker, leaseMs, now }) {
      const { worker_id: workerId, host, pid, pid_started: pidStarted } = worker;
      const { rows } = await database.query(
        `UPDATE sluice.runs SET worker_id = $3, owner_host = $4, owner_pid = $5, owner_pid_started = $6, lease_until = $7
         WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} AND started_at IS NOT NULL AND lease_until <= $8
         RETURNING *`,
        [id, from, workerId, host, pid, pidStarted, now + leaseMs, now],
      );
      return rows[0] === undefined ? undefined : readRun(rows[0]);
    },

    async endRun({ id, workerId, result, now }) {
      const { rows } = await database.query(
        `WITH ended AS (
           UPDATE sluice.runs SET state = 'ended', lease_until = NULL, reply = NULL, ended_at = $3, result = $4
           WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} AND order_run_id IS NULL
           RETURNING seq, state, started_at, ended_at
         ), counted AS (
           ${buildDigestUpdate(5, 'ended')}
         )
         SELECT true AS done FROM ended`,
        [id, workerId, now, JSON.stringify(result), ...listDigestValues(result)],
      );
      return rows.length > 0;
    },

    async hasExpiredRuns(now, host) {
      const { rows } = await database.query(HAS_EXPIRED, [now, host ?? null]);
      return rows.length > 0;
    },

    async requeueExpired(now) {
      const { rows } = await database.query(REQUEUE_EXPIRED, [now]);
      return rows.length;
    },

    async findRepositoryStart(id) {
      const { rows } = await database.query(`SELECT start FROM sluice.repository_starts WHERE run = $1`, [id]);
      return rows[0] === undefined ? undefined : readColumns(rows[0]).text('start');
    },

    async listExpiredRuns(now, { after, host } = {}) {
      const { rows } = await database.query(
        `SELECT * FROM sluice.runs WHERE ${IS_HELD} AND started_at IS NOT NULL AND lease_until <= $1
           AND seq > coalesce((SELECT seq FROM sluice.runs WHERE id = $3), 0) AND ($4::text IS NULL OR owner_host = $4)
         ORDER BY seq LIMIT $2`,
        [now, MAX_EXPIRED, after ?? null, host ?? null],
      );
      return rows.map(readRun);
    },
  };
}

const IS_HELD = `state IN ('running', 'waiting')`;
const IS_CANCELED = `cancel_requested AND started_at IS NULL`;
const UNCLAIMED = `state = 'queued', parked = false, lease_until = NULL, worker_id = NULL, owner_host = NULL, owner_pid = NULL, owner_pid_started = NULL`;

const HAS_EXPIRED = `
  SELECT true AS found FROM sluice.runs
  WHERE ${IS_HELD} AND lease_until <= $1 AND ($2::text IS NULL OR owner_host = $2) LIMIT 1`;

/** Skips rows that another process is requeueing. */
const REQUEUE_EXPIRED = `
  UPDATE sluice.runs SET ${UNCLAIMED} WHERE seq IN (
    SELECT seq FROM sluice.runs WHERE ${IS_HELD} AND started_at IS NULL AND lease_until <= $1
    ORDER BY seq FOR NO KEY UPDATE SKIP LOCKED)
  RETURNING true AS done`;

/**
 * `sluice.claim_run` is in `queue-functions.ts`. One call is one transaction, which commits before its result is
 * returned.
 */
const CLAIM = `
  SELECT (claimed.run).*, contended, is_more, (
    SELECT row_to_json(orders) FROM sluice.orders WHERE orders.run = (claimed.run).id) AS carried
  FROM sluice.claim_run($1, $2, $3, $4, $5, $6, $7::text[], $8::text[], $9::double precision[], $10, $11, $12, $13, $14, $15) AS claimed`;

/** Reads a claimed run's order from the row that the claim returned. */
function readClaimedOrder(claimed: Row): OrderRecord | undefined {
  const carried = claimed['carried'];
  if (typeof carried !== 'object' || carried === null) return undefined;
  const order = carried as Row;
  const state = order['settled_at'] === null ? 'running' : order['decision'] === null ? 'canceled' : 'settled';
  return readOrder({ ...order, state, started_at: claimed['started_at'] });
}

/** Finds a claimed run's order. The claim does not return an order that was submitted after its statement started. */
async function findClaimedOrder(database: Queryable, run: string): Promise<OrderRecord | null> {
  const { rows } = await database.query(`SELECT * FROM sluice.order_records WHERE run = $1`, [run]);
  return rows[0] === undefined ? null : readOrder(rows[0]);
}

/**
 * Each round waits for another worker's claim, or parks a hundred runs: marks them to be skipped while their folder is
 * in use (see `queue-functions.ts`). After this many rounds, the next wake-up continues.
 */
const MAX_ROUNDS = 1000;

async function claimNext(database: Queryable, values: readonly unknown[]): Promise<Row | undefined> {
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

async function findUnresolved(transaction: Queryable, dependencies: readonly string[]): Promise<string[]> {
  if (dependencies.length === 0) return [];
  const { rows } = await transaction.query(
    `SELECT issue_ref FROM sluice.issues WHERE issue_ref = ANY ($1) AND state IN ('review', 'done')`,
    [dependencies],
  );
  const resolved = new Set(rows.map((row) => row['issue_ref']));
  return dependencies.filter((issueRef) => !resolved.has(issueRef));
}
