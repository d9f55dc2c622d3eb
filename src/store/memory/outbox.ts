import type { OutboxStore } from '../../orders/index.js';
import { compareText, describeSink, MAX_REDELIVERED } from '../sink-state.js';
import { QUEUE } from '../wakers.js';
import { listRows, readRecord } from './lists.js';
import { checkOpen, copyValue, type OutboxRow, type Tables } from './tables.js';

/** Creates the store's outbox methods. */
export function createOutbox(tables: Tables): OutboxStore {
  return {
    async readInstallation() {
      checkOpen(tables);
      return tables.installation;
    },

    async claimOutbox({ workerId, leaseMs, now, limit, sinks }) {
      checkOpen(tables);
      const seen = new Set<string>();
      const claimed: OutboxRow[] = [];
      for (const row of tables.outbox.values()) {
        const { record } = row;
        if (record.state === 'delivered' || record.state === 'dead') continue;
        const key = JSON.stringify([record.sink, record.issue_ref]);
        // Only the oldest message per issue and sink is claimed, so comments are delivered one at a time and in order.
        if (seen.has(key)) continue;
        seen.add(key);
        const isDue = record.state === 'waiting' ? record.due_at <= now : (record.lease_until ?? 0) <= now;
        if (!isDue || sinks?.includes(record.sink) === false || claimed.length >= limit) continue;
        row.workerId = workerId;
        row.record = { ...record, state: 'sending', tries: record.tries + 1, lease_until: now + leaseMs };
        claimed.push(row);
      }
      return claimed.map((row) => copyValue(row.record));
    },

    async markDelivered({ id, workerId, deliveredTo }) {
      checkOpen(tables);
      const row = findHeld(tables, id, workerId);
      if (row === undefined) return false;
      row.record = { ...row.record, state: 'delivered', lease_until: null, delivered_to: deliveredTo };
      tables.wakers.wake(QUEUE);
      return true;
    },

    async markFailed({ id, workerId, error, retryAt }) {
      checkOpen(tables);
      const row = findHeld(tables, id, workerId);
      if (row === undefined) return false;
      row.record = {
        ...row.record,
        state: retryAt === null ? 'dead' : 'waiting',
        due_at: retryAt ?? row.record.due_at,
        lease_until: null,
        last_error: error,
      };
      tables.wakers.wake(QUEUE);
      return true;
    },

    async redeliver(filter, now) {
      checkOpen(tables);
      const due = [...tables.outbox.values()]
        .filter(({ record }) => ('id' in filter ? record.id === filter.id : record.sink === filter.sink))
        .filter(({ record: { state } }) => state === 'dead' || state === 'waiting')
        .slice(0, MAX_REDELIVERED);
      // With 0 tries, the message would be sent without looking for an earlier delivery.
      for (const row of due) row.record = { ...row.record, state: 'waiting', tries: 1, due_at: now };
      tables.wakers.wake(QUEUE);
      return due.length;
    },

    async listSinks() {
      checkOpen(tables);
      const records = [...tables.outbox.values()].map(({ record }) => record);
      const undelivered = records.filter(({ state }) => state !== 'delivered');
      return [...new Set(undelivered.map(({ sink }) => sink))].toSorted(compareText).map((sink) => {
        const messages = undelivered.filter((message) => message.sink === sink);
        const failed = messages.findLast(({ last_error: error }) => error !== null);
        return describeSink({
          name: sink,
          open: messages.filter(({ state }) => state !== 'dead').length,
          dead: messages.filter(({ state }) => state === 'dead').length,
          last_error: failed?.last_error ?? null,
          oldest_at: messages[0]?.created_at ?? '',
        });
      });
    },

    async recordStranded({ sinks, dueBefore, error, limit }) {
      checkOpen(tables);
      const stranded = [...tables.outbox.values()]
        .filter(({ record }) => record.state === 'waiting' && record.due_at <= dueBefore)
        .filter(({ record }) => record.last_error !== error && !sinks.includes(record.sink))
        .slice(0, limit);
      for (const row of stranded) row.record = { ...row.record, last_error: error };
      return [...new Set(stranded.map(({ record }) => record.sink))].toSorted();
    },

    async listOutbox({ state, issueRef, ...page }) {
      checkOpen(tables);
      return listRows(
        tables.outbox.values(),
        page,
        'newest',
        ({ record }) =>
          (state === undefined || record.state === state) && (issueRef === undefined || record.issue_ref === issueRef),
        readRecord,
      );
    },
  };
}

function findHeld(tables: Tables, id: string, workerId: string): OutboxRow | undefined {
  const row = tables.outbox.get(id);
  return row?.record.state === 'sending' && row.workerId === workerId ? row : undefined;
}
