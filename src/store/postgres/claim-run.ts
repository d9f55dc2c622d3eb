import type { RunStore } from '../../runs/index.js';
import { EXPIRED_AT_ONCE, storeSpec } from '../queue-rules.js';
import { readColumns, readOrder, closeDigest, digestValues, readRun } from './rows.js';
import type { Context } from './context.js';
import type { Queryable, Row } from './driver.js';
import { NOTIFY_QUEUE } from './queue.js';

/** Claims are serialized across all machines, so that each can count the claims of the others. */
const CLAIM_LOCK = 758_424;

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
  | 'listExpiredRuns'
>;

/** Claims runs, and lets the holder of a claim start, renew, release and end them. */
export function createClaimRun({ database }: Context): ClaimRun {
  return {
    async claimRun({ worker, leaseMs, now, takes, concurrency = {}, workerTypes }) {
      const limits = Object.entries(concurrency);
      const values = [
        worker.worker_id,
        worker.host,
        worker.pid,
        worker.pid_started,
        now + leaseMs,
        workerTypes ?? null,
        limits.map(([type]) => type),
        limits.map(([, limit]) => limit),
        now,
        takes?.includes('orders') !== false,
        takes?.includes('runs') !== false,
      ];
      // Without a queue there is no need to wait for the others.
      const { rows: queued } = await database.query(ANY_QUEUED, [now]);
      if (queued.length === 0) return undefined;
      const claimed = await database.transaction(async (transaction) => claimNext(transaction, values));
      if (claimed === undefined) return undefined;
      // After the claims of others may go on: what is read now belongs to the claimed run.
      const record = readRun(claimed);
      if (record.order === null) return { record, order: null, unresolved: [] };
      const { rows: orders } = await database.query(`SELECT * FROM sluice.order_records WHERE run = $1`, [record.id]);
      const order = orders[0] === undefined ? null : readOrder(orders[0]);
      return { record, order, unresolved: await findUnresolved(database, order?.order.depends_on ?? []) };
    },

    async markStarted({ id, workerId, now, spec, baseCommit, repositoryStart }) {
      // One update with a case, because cancellation may be requested at the moment of the start.
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
         ), forgotten AS (
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
           RETURNING seq, state, started_at, ended_at, ${NOTIFY_QUEUE}
         ), counted AS (
           ${closeDigest(5, 'ended')}
         )
         SELECT true AS done FROM ended`,
        [id, workerId, now, JSON.stringify(result), ...digestValues(result)],
      );
      return rows.length > 0;
    },

    async requeueExpired(now) {
      const { rows } = await database.query(
        `WITH freed AS (
           UPDATE sluice.runs SET ${UNCLAIMED} WHERE ${IS_HELD} AND started_at IS NULL AND lease_until <= $1
           RETURNING true AS done
         ), requeued AS (
           SELECT count(*) AS total FROM freed
         )
         SELECT total, CASE WHEN total > 0 THEN ${NOTIFY_QUEUE}::text END FROM requeued`,
        [now],
      );
      return readColumns(rows[0] ?? {}).number('total');
    },

    async findRepositoryStart(id) {
      const { rows } = await database.query(`SELECT start FROM sluice.repository_starts WHERE run = $1`, [id]);
      return rows[0] === undefined ? undefined : readColumns(rows[0]).text('start');
    },

    async listExpiredRuns(now, after) {
      const { rows } = await database.query(
        `SELECT * FROM sluice.runs WHERE ${IS_HELD} AND started_at IS NOT NULL AND lease_until <= $1
           AND seq > coalesce((SELECT seq FROM sluice.runs WHERE id = $3), 0)
         ORDER BY seq LIMIT $2`,
        [now, EXPIRED_AT_ONCE, after ?? null],
      );
      return rows.map(readRun);
    },
  };
}

const IS_HELD = `state IN ('running', 'waiting')`;
const IS_CANCELED = `cancel_requested AND started_at IS NULL`;
const UNCLAIMED = `state = 'queued', lease_until = NULL, worker_id = NULL, owner_host = NULL, owner_pid = NULL, owner_pid_started = NULL`;

const ANY_QUEUED = `SELECT 1 FROM sluice.runs WHERE state = 'queued' AND not_before <= $1 LIMIT 1`;

/** Claims the next run: among the first in the queue, else the first of each lane, unless there are too many of those. */
async function claimNext(transaction: Queryable, values: readonly unknown[]): Promise<Row | undefined> {
  // A separate statement, so that the next one sees what the previous claim has written.
  await transaction.query(`SELECT pg_advisory_xact_lock($1)`, [CLAIM_LOCK]);
  const { rows: first } = await transaction.query(claimFrom(FIRST_QUEUED), values, 'claim-first');
  if (first[0] !== undefined) return first[0];
  const { rows: counted } = await transaction.query(COUNT_LANES);
  const isFew = readColumns(counted[0] ?? {}).number('lanes') <= MOST_LANES;
  const { rows } = await transaction.query(claimFrom(isFew ? FIRST_OF_LANES : ALL_QUEUED), values);
  return rows[0];
}

/** With more lanes than this, stepping through lanes is no faster than stepping through runs. */
const MOST_LANES = 2000;

/** As in the index `runs_lanes`. */
const LANE = `(folder || E'\\n' || exclusive::text || E'\\n' || coalesce(worker_type, ''))`;

const ALL_QUEUED = `SELECT * FROM sluice.runs WHERE state = 'queued' ORDER BY priority DESC, seq`;

/** Most of the time one of the first can be claimed. */
const FIRST_QUEUED = `${ALL_QUEUED} LIMIT 256`;

/** Steps from lane to lane. */
const LANES = `
  WITH RECURSIVE steps (lane) AS (
    (SELECT ${LANE} FROM sluice.runs WHERE state = 'queued' ORDER BY ${LANE} LIMIT 1)
    UNION ALL
    SELECT (SELECT ${LANE} FROM sluice.runs WHERE state = 'queued' AND ${LANE} > steps.lane ORDER BY ${LANE} LIMIT 1)
    FROM steps WHERE steps.lane IS NOT NULL
  )
  SELECT lane FROM steps WHERE lane IS NOT NULL LIMIT ${MOST_LANES + 1}`;

const COUNT_LANES = `SELECT count(*) AS lanes FROM (${LANES}) AS lanes`;

/**
 * Thousands may wait for a few folders. Runs of one lane (folder, way of using it, worker type) can all be claimed or none of
 * them, apart from canceled ones, so the first of each lane is enough.
 */
const FIRST_OF_LANES = `
  SELECT firsts.* FROM (${LANES}) AS lanes CROSS JOIN LATERAL (
    SELECT * FROM sluice.runs WHERE state = 'queued' AND ${LANE} = lanes.lane AND not_before <= $9
    ORDER BY priority DESC, seq LIMIT 1) AS firsts
  UNION ALL
  SELECT * FROM sluice.runs WHERE state = 'queued' AND cancel_requested`;

/**
 * Two runs share a folder only if neither needs it exclusively. A canceled order needs no folder: it is settled without a
 * process.
 */
function claimFrom(queue: string): string {
  return `
  WITH busy AS MATERIALIZED (
    SELECT worker_type, folder, exclusive FROM sluice.runs WHERE ${IS_HELD}
  ), full_types AS MATERIALIZED (
    SELECT type FROM unnest($7::text[], $8::double precision[]) AS limits (type, most)
    WHERE (SELECT count(*) FROM busy WHERE busy.worker_type = type) >= most
  ), candidate AS MATERIALIZED (
    SELECT seq FROM (${queue}) AS queued
    WHERE not_before <= $9
      AND CASE WHEN order_run_id IS NULL THEN $11::boolean ELSE $10::boolean END
      AND (worker_type IS NULL OR $6::text[] IS NULL OR worker_type = ANY ($6))
      AND (worker_type IS NULL OR worker_type NOT IN (SELECT type FROM full_types))
      AND (cancel_requested OR NOT EXISTS (
        SELECT FROM busy WHERE busy.folder = queued.folder AND (busy.exclusive OR queued.exclusive)
      ))
    ORDER BY priority DESC, seq
    LIMIT 1
  ), next AS (
    SELECT seq FROM sluice.runs WHERE seq = (SELECT seq FROM candidate) AND state = 'queued' FOR UPDATE
  )
  UPDATE sluice.runs
  SET state = 'running', worker_id = $1, owner_host = $2, owner_pid = $3, owner_pid_started = $4, lease_until = $5, not_before = 0
  FROM next
  WHERE runs.seq = next.seq
  RETURNING runs.*`;
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
