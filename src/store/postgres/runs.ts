import type { RunRecord, StoredRunSpec } from '../../records/index.js';
import type { RunStore } from '../../runs/index.js';
import {
  CANCELED_IN_QUEUE,
  queuePlainRun,
  resolveFolder,
  type QueuedRun,
  checkSameRun,
  storeSpec,
} from '../queue-rules.js';
import { buildSearchText } from '../run-digest.js';
import { readRunSearch } from '../search.js';
import { createClaimRun } from './claim-run.js';
import type { Context } from './context.js';
import type { Queryable } from './driver.js';
import { listRows, searchRuns } from './lists.js';
import { buildRequestNotification } from './notifications.js';
import { buildDigestUpdate, listDigestValues, readRun } from './rows.js';

/** Creates the store's run queue methods. */
export function createRuns(context: Context, searchWindow: number): RunStore {
  const { database, notifications } = context;

  async function findRun(id: string): Promise<RunRecord | undefined> {
    const { rows } = await database.query(`SELECT * FROM sluice.run_records WHERE id = $1`, [id]);
    return rows[0] === undefined ? undefined : readRun(rows[0]);
  }

  return {
    ...createClaimRun(context),

    async createRun({ id, spec, state, requestId, workerId, leaseMs, now }) {
      database.checkOpen();
      const stored = storeSpec(spec, state);
      return database.transaction(async (transaction) => {
        const isNew = await addRun(transaction, queuePlainRun(id, stored), { requestId: requestId ?? null, now });
        if (!isNew) return { id: await findRepeated(transaction, { id, requestId, spec: stored }), repeated: true };
        if (state === 'running') {
          await transaction.query(
            `UPDATE sluice.runs SET state = 'running', worker_id = $2, lease_until = $3, started_at = $4 WHERE id = $1`,
            [id, workerId ?? null, leaseMs === undefined ? null : now + leaseMs, now],
          );
        }
        return { id, repeated: false };
      });
    },

    async requestCancel(id, now) {
      const endsNow = `state = 'queued' AND order_run_id IS NULL`;
      await database.query(
        `WITH canceled AS (
           UPDATE sluice.runs SET
             cancel_requested = cancel_requested OR state <> 'ended',
             ended_at = CASE WHEN ${endsNow} THEN $2 ELSE ended_at END,
             result = CASE WHEN ${endsNow} THEN $3 ELSE result END,
             state = CASE WHEN ${endsNow} THEN 'ended' ELSE state END
           WHERE id = $1
           RETURNING seq, state, started_at, ended_at, ${buildRequestNotification('id')}
         ), counted AS (
           ${buildDigestUpdate(4, 'canceled')}
         )
         SELECT true AS done FROM canceled`,
        [id, now, JSON.stringify(CANCELED_IN_QUEUE), ...listDigestValues(CANCELED_IN_QUEUE)],
      );
      return findRun(id);
    },

    async postReply(id, text) {
      const { rows } = await database.query(
        `UPDATE sluice.runs SET reply = $2 WHERE id = $1 AND state = 'waiting' AND reply IS NULL
         RETURNING ${buildRequestNotification('id')}`,
        [id, JSON.stringify(text)],
      );
      if (rows.length > 0) return 'posted';
      const { rows: found } = await database.query(`SELECT true AS done FROM sluice.runs WHERE id = $1`, [id]);
      return found.length > 0 ? 'not_waiting' : 'not_found';
    },

    watchRequests(id, wake) {
      database.checkOpen();
      return notifications.watchRequests(id, wake);
    },

    findRun,

    async listRuns(filter) {
      const search = readRunSearch(filter);
      if (search !== undefined) return searchRuns(database, search, searchWindow, readRun);
      const { state, engine, ...page } = filter;
      return listRows(database, page, {
        table: 'run_records',
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

/** Adds a run to the queue, inside a transaction; false if a run with that id or request id exists. */
export async function addRun(
  transaction: Queryable,
  { id, spec, order, workerType, priority, isExclusive }: QueuedRun,
  { requestId, now }: { readonly requestId: string | null; readonly now: number },
): Promise<boolean> {
  const { rows } = await transaction.query(
    `WITH added AS (
       INSERT INTO sluice.runs
         (id, spec, engine, state, order_issue_ref, order_run_id, created_at, request_id, folder, exclusive, priority, worker_type)
       VALUES ($1, $2, $3, 'queued', $4, $5, $6, $7, $8, $9, $10, $11)
       ON CONFLICT DO NOTHING
       RETURNING seq
     )
     INSERT INTO sluice.run_digests (seq, engine, created_at, words) SELECT seq, $3, $6, $12 FROM added
     RETURNING true AS done`,
    [
      id,
      JSON.stringify(spec),
      spec.engine,
      order?.issue_ref ?? null,
      order?.run_id ?? null,
      now,
      requestId,
      resolveFolder(spec),
      isExclusive,
      priority,
      workerType,
      buildSearchText({ id, spec, order }),
    ],
  );
  return rows.length > 0;
}

interface RequestedRun {
  readonly id: string;
  readonly requestId: string | undefined;
  readonly spec: StoredRunSpec;
}

/**
 * Finds the run that conflicts with a new run. Of two concurrent requests, the second waits until the first is
 * committed.
 */
async function findRepeated(transaction: Queryable, { id, requestId, spec }: RequestedRun): Promise<string> {
  if (requestId === undefined) return id;
  const { rows } = await transaction.query(`SELECT * FROM sluice.run_records WHERE request_id = $1`, [requestId]);
  if (rows[0] === undefined) return id;
  const known = readRun(rows[0]);
  checkSameRun(known, requestId, spec);
  return known.id;
}
