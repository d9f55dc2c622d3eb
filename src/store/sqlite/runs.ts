import type { RunRecord, RunResult, RunSpec, RunState } from '../../records/index.js';
import type { RunRecords } from '../../runs/index.js';
import { CANCELED_IN_QUEUE } from '../canceled-result.js';
import { GHOSTS_AT_ONCE } from '../ghosts-at-once.js';
import { searchTextOf } from '../run-digest.js';
import { readRunSearch } from '../run-search.js';
import { checkSameRun } from '../same-request.js';
import { storeSpec } from '../stored-spec.js';
import { QUEUE, type Wakers } from '../wakers.js';
import type { Database } from './database.js';
import type { SqlRow } from './driver.js';
import { equals, listRows } from './list-rows.js';
import { createRunDigests } from './run-digests.js';
import {
  readInteger,
  readIntegerOrNull,
  readJson,
  readJsonOrNull,
  readText,
  readTextOrNull,
  readTime,
  readTimeOrNull,
} from './row-reader.js';
import { searchRuns } from './search-runs.js';

export const FIND_REQUEST = 'SELECT * FROM runs WHERE request_id = ?';

/** The queue of runs. */
export function createRuns(database: Database, wakers: Wakers, searchWindow: number): RunRecords {
  const digests = createRunDigests(database);
  const insert = database.prepare(`
    INSERT INTO runs (id, request_id, spec, engine, state, order_issue_ref, order_run_id, worker_id, lease_until, created_at, started_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const findRequest = database.prepare(FIND_REQUEST);
  const find = database.prepare('SELECT * FROM runs WHERE id = ?');
  const claim = database.prepare(`
    UPDATE runs SET state = 'running', worker_id = ?, lease_until = ?, started_at = ?
    WHERE sequence = (SELECT sequence FROM runs WHERE state = 'queued' ORDER BY sequence LIMIT 1) RETURNING *`);
  const findHeld = database.prepare(`
    SELECT * FROM runs WHERE id = ? AND worker_id = ? AND state IN ('running', 'waiting')`);
  const renew = database.prepare('UPDATE runs SET state = ?, lease_until = ?, reply = NULL WHERE id = ?');
  const end = database.prepare(`
    UPDATE runs SET state = 'ended', lease_until = NULL, reply = NULL, ended_at = ?, result = ?
    WHERE id = ? AND worker_id = ? AND state IN ('running', 'waiting')`);
  const cancel = database.prepare(`
    UPDATE runs SET cancel_requested = 1,
      ended_at = CASE state WHEN 'queued' THEN ? END,
      result = CASE state WHEN 'queued' THEN ? END,
      state = CASE state WHEN 'queued' THEN 'ended' ELSE state END
    WHERE id = ? AND state <> 'ended'`);
  const post = database.prepare(`UPDATE runs SET reply = ? WHERE id = ? AND state = 'waiting' AND reply IS NULL`);
  const findExpired = database.prepare(`
    SELECT * FROM runs WHERE state IN ('running', 'waiting') AND lease_until <= ? ORDER BY sequence LIMIT ?`);

  return {
    async createRun({ id, spec, state, requestId, order, workerId, leaseMs, now }) {
      const text = storeSpec(spec, state);
      const leaseUntil = leaseMs === undefined ? null : now + leaseMs;
      const startedAt = state === 'running' ? now : null;
      const created = await database.write(() => {
        if (requestId !== undefined) {
          const row = findRequest.get(requestId);
          if (row !== undefined) {
            const known = readRun(row);
            checkSameRun(known, requestId, spec);
            return { id: known.id, repeated: true };
          }
        }
        const { changes } = insert.run(
          id,
          requestId ?? null,
          text,
          spec.engine,
          state,
          order?.issue_ref ?? null,
          order?.run_id ?? null,
          workerId ?? null,
          leaseUntil,
          now,
          startedAt,
        );
        digests.add(id, searchTextOf({ id, spec, order: order ?? null }));
        return { id, repeated: Number(changes) === 0 };
      });
      wakers.wake(QUEUE);
      return created;
    },

    async claimRun({ workerId, leaseMs, now }) {
      const row = await database.write(() => claim.get(workerId, now + leaseMs, now));
      return row === undefined ? undefined : readRun(row);
    },

    renewRun: async ({ id, workerId, leaseMs, now, state }) =>
      database.write(() => {
        const row = findHeld.get(id, workerId);
        if (row === undefined) return { held: false, cancel: false, reply: null };
        const reply = readJsonOrNull(row, 'reply') as string | null;
        // With the answer in its hands the run goes on: a second one has nothing to answer.
        renew.run(reply === null ? state : 'running', now + leaseMs, id);
        return { held: true, cancel: row['cancel_requested'] === 1, reply };
      }),

    async endRun({ id, workerId, result, now }) {
      return database.write(() => {
        const { changes } = end.run(now, JSON.stringify(result), id, workerId);
        if (Number(changes) === 0) return false;
        digests.close(id, result);
        return true;
      });
    },

    requestCancel: async (id, now) =>
      database.write(() => {
        const isQueued = find.get(id)?.['state'] === 'queued';
        cancel.run(now, JSON.stringify(CANCELED_IN_QUEUE), id);
        if (isQueued) digests.close(id, CANCELED_IN_QUEUE);
        const row = find.get(id);
        return row === undefined ? undefined : readRun(row);
      }),

    postReply: async (id, text) =>
      database.write(() => {
        if (Number(post.run(JSON.stringify(text), id).changes) === 1) return 'posted';
        return find.get(id) === undefined ? 'not_found' : 'not_waiting';
      }),

    listExpiredRuns: async (now) => database.read(() => findExpired.all(now, GHOSTS_AT_ONCE).map(readRun)),

    findRun: async (id) =>
      database.read(() => {
        const row = find.get(id);
        return row === undefined ? undefined : readRun(row);
      }),

    async listRuns(filter) {
      const search = readRunSearch(filter);
      if (search !== undefined) return searchRuns(database, search, searchWindow, readRun);
      const { state, engine, ...page } = filter;
      return listRows(database, 'runs', page, 'newest', [equals('state', state), equals('engine', engine)], readRun);
    },
  };
}

/** A run as its row has it. */
export function readRun(row: SqlRow): RunRecord {
  const issueRef = readTextOrNull(row, 'order_issue_ref');
  return {
    id: readText(row, 'id'),
    spec: readJson(row, 'spec') as RunSpec,
    state: readText(row, 'state') as RunState,
    order: issueRef === null ? null : { issue_ref: issueRef, run_id: readText(row, 'order_run_id') },
    worker_id: readTextOrNull(row, 'worker_id'),
    lease_until: readIntegerOrNull(row, 'lease_until'),
    cancel_requested: readInteger(row, 'cancel_requested') === 1,
    created_at: readTime(row, 'created_at'),
    started_at: readTimeOrNull(row, 'started_at'),
    ended_at: readTimeOrNull(row, 'ended_at'),
    result: readJsonOrNull(row, 'result') as RunResult | null,
  };
}
