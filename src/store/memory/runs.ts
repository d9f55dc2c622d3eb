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
import { QUEUE, formatRequestsKey } from '../wakers.js';
import { createClaimRun } from './claim-run.js';
import { listRows, searchRuns } from './lists.js';
import { checkOpen, copyValue, endRow, nextSequence, readRun, type RunRow, type Tables } from './tables.js';

/** Creates the store's run queue methods. */
export function createRuns(tables: Tables, searchWindow: number): RunStore {
  const { runs } = tables;
  return {
    ...createClaimRun(tables),

    async createRun({ id, spec, state, requestId, workerId, leaseMs, now }) {
      checkOpen(tables);
      const stored = storeSpec(spec, state);
      if (requestId !== undefined) {
        const known = runs.get(tables.runIdsByRequest.get(requestId) ?? '');
        if (known !== undefined) {
          checkSameRun(known.record, requestId, stored);
          return { id: known.record.id, repeated: true };
        }
      }
      if (runs.has(id)) return { id, repeated: true };
      const row = addRun(tables, queuePlainRun(id, stored), now);
      if (state === 'running') {
        row.record = {
          ...row.record,
          state,
          owner: workerId === undefined ? null : { worker_id: workerId, host: '', pid: 0, pid_started: null },
          lease_until: leaseMs === undefined ? null : now + leaseMs,
          started_at: row.record.created_at,
        };
      }
      if (requestId !== undefined) tables.runIdsByRequest.set(requestId, id);
      tables.wakers.wake(QUEUE);
      return { id, repeated: false };
    },

    async requestCancel(id, now) {
      checkOpen(tables);
      const row = runs.get(id);
      if (row === undefined) return undefined;
      if (row.record.state !== 'ended') row.record = { ...row.record, cancel_requested: true };
      if (row.record.state === 'queued' && row.record.order === null) endRow(row, CANCELED_IN_QUEUE, now);
      tables.wakers.wake(formatRequestsKey(id));
      tables.wakers.wake(id);
      tables.wakers.wake(QUEUE);
      return readRun(tables, row);
    },

    async postReply(id, text) {
      checkOpen(tables);
      const row = runs.get(id);
      if (row === undefined) return 'not_found';
      if (row.record.state !== 'waiting' || row.reply !== null) return 'not_waiting';
      row.reply = text;
      tables.wakers.wake(formatRequestsKey(id));
      return 'posted';
    },

    watchRequests(id, wake) {
      checkOpen(tables);
      return tables.wakers.watch(formatRequestsKey(id), wake);
    },

    async findRun(id) {
      checkOpen(tables);
      const row = runs.get(id);
      return row === undefined ? undefined : readRun(tables, row);
    },

    async listRuns(filter) {
      checkOpen(tables);
      const search = readRunSearch(filter);
      if (search !== undefined) return searchRuns(tables, search, searchWindow);
      const { state, engine, ...page } = filter;
      return listRows(
        runs.values(),
        page,
        'newest',
        ({ record }) =>
          (state === undefined || record.state === state) && (engine === undefined || record.spec.engine === engine),
        (row) => readRun(tables, row),
      );
    },
  };
}

/** Adds a run to the queue. */
export function addRun(tables: Tables, run: QueuedRun, now: number): RunRow {
  const { id, spec, order, workerType, priority, isExclusive } = run;
  const record = {
    id,
    spec,
    state: 'queued',
    order,
    owner: null,
    lease_until: null,
    cancel_requested: false,
    created_at: new Date(now).toISOString(),
    started_at: null,
    ended_at: null,
    result: null,
  } as const;
  const row: RunRow = {
    sequence: nextSequence(tables, 'runs'),
    record: copyValue(record),
    reply: null,
    searchText: buildSearchText(record),
    folder: resolveFolder(spec),
    isExclusive,
    workerType,
    priority,
    notBefore: 0,
  };
  tables.runs.set(id, row);
  return row;
}
