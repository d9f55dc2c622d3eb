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
import { QUEUE, formatRequestsKey, type Wakers } from '../wakers.js';
import { createClaimRun, END_RUN, createRunDigests } from './claim-run.js';
import type { Database } from './database.js';
import { buildEquals, listRows, searchRuns } from './lists.js';
import type { Poller } from './poller.js';
import { readRun } from './rows.js';

export const FIND_REQUEST = 'SELECT * FROM run_records WHERE request_id = ?';

/** Creates the store's run queue methods. */
export function createRuns(database: Database, wakers: Wakers, poller: Poller, searchWindow: number): RunStore {
  const digests = createRunDigests(database);
  const addRun = createAddRun(database);
  const findRequest = database.prepare(FIND_REQUEST);
  const find = database.prepare('SELECT * FROM run_records WHERE id = ?');
  const start = database.prepare(`
    UPDATE runs SET state = 'running', worker_id = ?, lease_until = ?, started_at = ? WHERE id = ?`);
  const setRequest = database.prepare('UPDATE runs SET request_id = ? WHERE id = ?');
  const cancel = database.prepare(`UPDATE runs SET cancel_requested = 1 WHERE id = ? AND state <> 'ended'`);
  const end = database.prepare(END_RUN);
  const post = database.prepare(`UPDATE runs SET reply = ? WHERE id = ? AND state = 'waiting' AND reply IS NULL`);

  return {
    ...createClaimRun(database, wakers),

    async createRun({ id, spec, state, requestId, workerId, leaseMs, now }) {
      const stored = storeSpec(spec, state);
      const created = await database.write(() => {
        const known = requestId === undefined ? undefined : findRequest.get(requestId);
        if (requestId !== undefined && known !== undefined) {
          const run = readRun(known);
          checkSameRun(run, requestId, stored);
          return { id: run.id, repeated: true };
        }
        if (!addRun(queuePlainRun(id, stored), now)) return { id, repeated: true };
        if (requestId !== undefined) setRequest.run(requestId, id);
        if (state === 'running') {
          start.run(workerId ?? null, leaseMs === undefined ? null : now + leaseMs, now, id);
        }
        return { id, repeated: false };
      });
      wakers.wake(QUEUE);
      return created;
    },

    async requestCancel(id, now) {
      const record = await database.write(() => {
        const row = find.get(id);
        if (row === undefined) return undefined;
        cancel.run(id);
        if (row['state'] === 'queued' && row['order_run_id'] === null) {
          end.run(now, JSON.stringify(CANCELED_IN_QUEUE), id);
          digests.close(id, CANCELED_IN_QUEUE);
        }
        return readRun(find.get(id) ?? {});
      });
      for (const key of [formatRequestsKey(id), id, QUEUE]) wakers.wake(key);
      return record;
    },

    async postReply(id, text) {
      const outcome = await database.write(() => {
        if (Number(post.run(JSON.stringify(text), id).changes) === 1) return 'posted';
        return find.get(id) === undefined ? 'not_found' : 'not_waiting';
      });
      if (outcome === 'posted') wakers.wake(formatRequestsKey(id));
      return outcome;
    },

    watchRequests: (id, wake) => poller.watch(formatRequestsKey(id), wake),

    findRun: async (id) =>
      database.read(() => {
        const row = find.get(id);
        return row === undefined ? undefined : readRun(row);
      }),

    async listRuns(filter) {
      const search = readRunSearch(filter);
      if (search !== undefined) return searchRuns(database, search, searchWindow, readRun);
      const { state, engine, ...page } = filter;
      return listRows(
        database,
        'run_records',
        page,
        'newest',
        [buildEquals('state', state), buildEquals('engine', engine)],
        readRun,
      );
    },
  };
}

/** Creates a function that adds a run to the queue inside a transaction; false if a run with that id exists. */
export function createAddRun(database: Database): (run: QueuedRun, now: number) => boolean {
  const digests = createRunDigests(database);
  const insert = database.prepare(`
    INSERT INTO runs (id, spec, engine, state, order_issue_ref, order_run_id, created_at, folder, exclusive, priority, worker_type)
    VALUES (?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  return ({ id, spec, order, workerType, priority, isExclusive }, now) => {
    const { changes } = insert.run(
      id,
      JSON.stringify(spec),
      spec.engine,
      order?.issue_ref ?? null,
      order?.run_id ?? null,
      now,
      resolveFolder(spec),
      isExclusive ? 1 : 0,
      priority,
      workerType,
    );
    if (Number(changes) === 0) return false;
    digests.add(id, buildSearchText({ id, spec, order }));
    return true;
  };
}
