import type { RunRecord, RunResult, RunSpec, RunState } from '../../records/index.js';
import type { RunRecords } from '../../runs/index.js';
import { CANCELED_IN_QUEUE } from '../canceled-result.js';
import { GHOSTS_AT_ONCE } from '../ghosts-at-once.js';
import { digestOf, searchTextOf } from '../run-digest.js';
import { readRunSearch } from '../run-search.js';
import { checkSameRun } from '../same-request.js';
import { storeSpec } from '../stored-spec.js';
import { columnsOf } from './columns.js';
import type { Context } from './context.js';
import type { Queryable, Row } from './driver.js';
import { listRows } from './list-rows.js';
import { NOTIFY_QUEUE } from './queue.js';
import { searchRuns } from './search-runs.js';

/** The queue of runs. */
export function createRuns({ database, queue }: Context, searchWindow: number): RunRecords {
  return {
    async createRun({ id, spec, state, requestId, order, workerId, leaseMs, now }) {
      database.checkOpen();
      const stored = storeSpec(spec, state);
      return database.transaction(async (transaction) => {
        const { rows } = await transaction.query(
          `WITH added AS (
             INSERT INTO sluice.runs
               (id, spec, engine, state, order_issue_ref, order_run_id, worker_id, lease_until, created_at, started_at, request_id)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $12)
             ON CONFLICT DO NOTHING
             RETURNING seq, ${NOTIFY_QUEUE}
           )
           INSERT INTO sluice.run_digests (seq, engine, created_at, words) SELECT seq, $3, $9, $11 FROM added
           RETURNING true AS done`,
          [
            id,
            stored,
            spec.engine,
            state,
            order?.issue_ref ?? null,
            order?.run_id ?? null,
            workerId ?? null,
            leaseMs === undefined ? null : now + leaseMs,
            now,
            state === 'running' ? now : null,
            searchTextOf({ id, spec, order: order ?? null }),
            requestId ?? null,
          ],
        );
        if (rows.length === 0) return { id: await findRepeated(transaction, { id, requestId, spec }), repeated: true };
        if (state === 'queued') await queue.announce(transaction, { kind: 'run', id });
        return { id, repeated: false };
      });
    },

    async claimRun({ workerId, leaseMs, now }) {
      const { rows } = await database.query(
        `UPDATE sluice.runs SET state = 'running', worker_id = $1, lease_until = $2, started_at = $3
         WHERE seq = (
           SELECT seq FROM sluice.runs WHERE state = 'queued' ORDER BY seq LIMIT 1 FOR UPDATE SKIP LOCKED
         )
         RETURNING *`,
        [workerId, now + leaseMs, now],
      );
      return rows[0] === undefined ? undefined : readRun(rows[0]);
    },

    async renewRun({ id, workerId, leaseMs, now, state }) {
      // With the answer in its hands the run goes on: a second one has nothing to answer.
      const { rows } = await database.query(
        `WITH held AS (
           SELECT seq, reply FROM sluice.runs WHERE id = $1 AND worker_id = $2 AND ${IS_HELD} FOR UPDATE
         )
         UPDATE sluice.runs SET
           lease_until = $3,
           reply = NULL,
           state = CASE WHEN held.reply IS NULL THEN $4 ELSE 'running' END
         FROM held
         WHERE runs.seq = held.seq
         RETURNING cancel_requested, held.reply AS taken`,
        [id, workerId, now + leaseMs, state],
      );
      if (rows[0] === undefined) return { held: false, cancel: false, reply: null };
      const { flag, jsonOrNull } = columnsOf(rows[0]);
      return { held: true, cancel: flag('cancel_requested'), reply: jsonOrNull('taken') as string | null };
    },

    async endRun({ id, workerId, result, now }) {
      const { rows } = await database.query(
        `WITH ended AS (
           UPDATE sluice.runs SET state = 'ended', lease_until = NULL, reply = NULL, ended_at = $3, result = $4
           WHERE id = $1 AND worker_id = $2 AND ${IS_HELD}
           RETURNING seq, state, started_at, ended_at
         ), counted AS (
           ${closeDigest(5, 'ended')}
         )
         SELECT true AS done FROM ended`,
        [id, workerId, now, JSON.stringify(result), ...digestValues(result)],
      );
      return rows.length > 0;
    },

    async requestCancel(id, now) {
      const { rows } = await database.query(
        `WITH canceled AS (
           UPDATE sluice.runs SET
             cancel_requested = cancel_requested OR state <> 'ended',
             lease_until = CASE WHEN state = 'queued' THEN NULL ELSE lease_until END,
             ended_at = CASE WHEN state = 'queued' THEN $2 ELSE ended_at END,
             result = CASE WHEN state = 'queued' THEN $3 ELSE result END,
             state = CASE WHEN state = 'queued' THEN 'ended' ELSE state END
           WHERE id = $1
           RETURNING *
         ), counted AS (
           ${closeDigest(4, 'canceled')}
         )
         SELECT * FROM canceled`,
        [id, now, JSON.stringify(CANCELED_IN_QUEUE), ...digestValues(CANCELED_IN_QUEUE)],
      );
      return rows[0] === undefined ? undefined : readRun(rows[0]);
    },

    async postReply(id, text) {
      const { rows } = await database.query(
        `UPDATE sluice.runs SET reply = $2 WHERE id = $1 AND state = 'waiting' AND reply IS NULL RETURNING true AS done`,
        [id, JSON.stringify(text)],
      );
      if (rows.length > 0) return 'posted';
      const { rows: found } = await database.query(`SELECT true AS done FROM sluice.runs WHERE id = $1`, [id]);
      return found.length > 0 ? 'not_waiting' : 'not_found';
    },

    async listExpiredRuns(now) {
      const { rows } = await database.query(
        `SELECT * FROM sluice.runs WHERE state <> 'ended' AND lease_until <= $1 ORDER BY seq LIMIT $2`,
        [now, GHOSTS_AT_ONCE],
      );
      return rows.map(readRun);
    },

    async findRun(id) {
      const { rows } = await database.query(`SELECT * FROM sluice.runs WHERE id = $1`, [id]);
      return rows[0] === undefined ? undefined : readRun(rows[0]);
    },

    async listRuns(filter) {
      const search = readRunSearch(filter);
      if (search !== undefined) return searchRuns(database, search, searchWindow, readRun);
      const { state, engine, ...page } = filter;
      return listRows(database, page, {
        table: 'runs',
        order: 'newest',
        conditions: [
          ['state = ?', state],
          ['engine = ?', engine],
        ],
        read: readRun,
      });
    },
  };
}

interface AskedRun {
  readonly id: string;
  readonly requestId: string | undefined;
  readonly spec: RunSpec;
}

/** The run that stood in the way of a new one; of two who ask at the same moment the second waits until it is written. */
async function findRepeated(transaction: Queryable, { id, requestId, spec }: AskedRun): Promise<string> {
  if (requestId === undefined) return id;
  const { rows } = await transaction.query(`SELECT * FROM sluice.runs WHERE request_id = $1`, [requestId]);
  if (rows[0] === undefined) return id;
  const known = readRun(rows[0]);
  checkSameRun(known, requestId, spec);
  return known.id;
}

/** Counts a run of `source` that has just ended; one that had ended before stays as it was counted. */
function closeDigest(first: number, source: string): string {
  const value = (index: number): string => `$${first + index}`;
  return `UPDATE sluice.run_digests SET outcome = ${value(0)}, repair_level = ${value(1)}, engine_version = ${value(2)},
      unknown_types = ${value(3)}, unknown_fields = ${value(4)},
      started_at = ${source}.started_at, ended_at = ${source}.ended_at
    FROM ${source}
    WHERE run_digests.seq = ${source}.seq AND ${source}.state = 'ended' AND run_digests.ended_at IS NULL`;
}

function digestValues(result: RunResult): (string | number | null)[] {
  const { outcome, repair_level, engine_version, unknown_types, unknown_fields } = digestOf(result);
  return [outcome, repair_level, engine_version, unknown_types, unknown_fields];
}

const IS_HELD = `state IN ('running', 'waiting')`;

/** A run as its row has it; the table allows only known states. */
export function readRun(row: Row): RunRecord {
  const { text, textOrNull, numberOrNull, flag, time, timeOrNull, json, jsonOrNull } = columnsOf(row);
  const issueRef = textOrNull('order_issue_ref');
  return {
    id: text('id'),
    spec: json('spec') as RunSpec,
    state: text('state') as RunState,
    order: issueRef === null ? null : { issue_ref: issueRef, run_id: text('order_run_id') },
    worker_id: textOrNull('worker_id'),
    lease_until: numberOrNull('lease_until'),
    cancel_requested: flag('cancel_requested'),
    created_at: time('created_at'),
    started_at: timeOrNull('started_at'),
    ended_at: timeOrNull('ended_at'),
    result: jsonOrNull('result') as RunResult | null,
  };
}
