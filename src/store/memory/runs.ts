import type { RunRecord, RunSpec } from '../../records/index.js';
import type { RunRecords } from '../../runs/index.js';
import { CANCELED_IN_QUEUE } from '../canceled-result.js';
import { GHOSTS_AT_ONCE } from '../ghosts-at-once.js';
import { searchTextOf } from '../run-digest.js';
import { readRunSearch } from '../run-search.js';
import { checkSameRun } from '../same-request.js';
import { storeSpec } from '../stored-spec.js';
import { QUEUE } from '../wakers.js';
import { listRows } from './list-rows.js';
import { searchRuns } from './search-runs.js';
import { checkOpen, copyOf, type RunRow, type Tables } from './tables.js';

/** The queue of runs. */
export function createRuns(tables: Tables, searchWindow: number): RunRecords {
  const { runs } = tables;
  return {
    async createRun({ id, spec, state, requestId, order, workerId, leaseMs, now }) {
      checkOpen(tables);
      const stored = JSON.parse(storeSpec(spec, state)) as RunSpec;
      if (requestId !== undefined) {
        const known = runs.get(tables.runIdsByRequest.get(requestId) ?? '');
        if (known !== undefined) {
          checkSameRun(known.record, requestId, spec);
          return { id: known.record.id, repeated: true };
        }
      }
      if (runs.has(id)) return { id, repeated: true };
      const at = new Date(now).toISOString();
      const record: RunRecord = {
        id,
        spec: stored,
        state,
        order: order ?? null,
        worker_id: workerId ?? null,
        lease_until: leaseMs === undefined ? null : now + leaseMs,
        cancel_requested: false,
        created_at: at,
        started_at: state === 'running' ? at : null,
        ended_at: null,
        result: null,
      };
      runs.set(id, {
        sequence: runs.size + 1,
        reply: null,
        searchText: searchTextOf(record),
        record: copyOf(record),
      });
      if (requestId !== undefined) tables.runIdsByRequest.set(requestId, id);
      tables.wakers.wake(QUEUE);
      return { id, repeated: false };
    },

    async claimRun({ workerId, leaseMs, now }) {
      checkOpen(tables);
      const row = [...runs.values()].find(({ record }) => record.state === 'queued');
      if (row === undefined) return undefined;
      row.record = {
        ...row.record,
        state: 'running',
        worker_id: workerId,
        lease_until: now + leaseMs,
        started_at: new Date(now).toISOString(),
      };
      return copyOf(row.record);
    },

    async renewRun({ id, workerId, leaseMs, now, state }) {
      checkOpen(tables);
      const row = findHeld(tables, id, workerId);
      if (row === undefined) return { held: false, cancel: false, reply: null };
      const { reply } = row;
      row.reply = null;
      // With the answer in its hands the run goes on: a second one has nothing to answer.
      row.record = { ...row.record, state: reply === null ? state : 'running', lease_until: now + leaseMs };
      return { held: true, cancel: row.record.cancel_requested, reply };
    },

    async endRun({ id, workerId, result, now }) {
      checkOpen(tables);
      const row = findHeld(tables, id, workerId);
      if (row === undefined) return false;
      end(row, result, now);
      return true;
    },

    async requestCancel(id, now) {
      checkOpen(tables);
      const row = runs.get(id);
      if (row === undefined) return undefined;
      if (row.record.state !== 'ended') row.record = { ...row.record, cancel_requested: true };
      if (row.record.state === 'queued') end(row, CANCELED_IN_QUEUE, now);
      return copyOf(row.record);
    },

    async postReply(id, text) {
      checkOpen(tables);
      const row = runs.get(id);
      if (row === undefined) return 'not_found';
      if (row.record.state !== 'waiting' || row.reply !== null) return 'not_waiting';
      row.reply = text;
      return 'posted';
    },

    async listExpiredRuns(now) {
      checkOpen(tables);
      return [...runs.values()]
        .filter(({ record }) => record.state !== 'ended' && record.lease_until !== null && record.lease_until <= now)
        .slice(0, GHOSTS_AT_ONCE)
        .map(({ record }) => copyOf(record));
    },

    async findRun(id) {
      checkOpen(tables);
      const row = runs.get(id);
      return row === undefined ? undefined : copyOf(row.record);
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
        (run) => (state === undefined || run.state === state) && (engine === undefined || run.spec.engine === engine),
      );
    },
  };
}

function findHeld(tables: Tables, id: string, workerId: string): RunRow | undefined {
  const row = tables.runs.get(id);
  const isOpen = row?.record.state === 'running' || row?.record.state === 'waiting';
  return isOpen && row.record.worker_id === workerId ? row : undefined;
}

function end(row: RunRow, result: RunRecord['result'], now: number): void {
  row.reply = null;
  row.record = {
    ...row.record,
    state: 'ended',
    lease_until: null,
    ended_at: new Date(now).toISOString(),
    result: copyOf(result),
  };
}
