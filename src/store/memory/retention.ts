import type { Retention } from '../retention.js';
import { formatEndCursor, readEndPage, toListed } from '../page.js';
import { checkOpen, formatOrderKey, type RunRow, type Tables } from './tables.js';

/** Creates the store's retention methods. */
export function createRetention(tables: Tables): Retention {
  const { runs, outbox, results } = tables;
  return {
    async purgeRuns({ endedBefore, runs: maxRuns, rows, now }) {
      checkOpen(tables);
      const due = listByEnd(tables)
        .filter(
          ({ endedAt, row }) => endedAt < endedBefore && !tables.purged.has(row.record.id) && !isNeeded(tables, row),
        )
        .slice(0, maxRuns)
        .map(({ row }) => row.record.id);
      const ids: string[] = [];
      let left = rows;
      for (const id of due) {
        left -= dropEvents(tables, id, left);
        if (left <= 0) break;
        tables.purged.set(id, now);
        ids.push(id);
      }
      return { ids, isDone: left > 0 && due.length < maxRuns };
    },

    async listPurgedRuns(page) {
      checkOpen(tables);
      const { size, after } = readEndPage(page);
      return toListed(listPurged(tables, after), { size }, ({ row }) => row.record.id, formatCursor);
    },

    async purgeRecords({ endedBefore, purgedBefore, limit, cursor }) {
      checkOpen(tables);
      const { size, after } = readEndPage({ since: 0, limit, ...(cursor === undefined ? {} : { cursor }) });
      const found = listPurged(tables, after).filter(({ at }) => at < purgedBefore);
      const page = found.slice(0, size);
      const due = page.filter(
        ({ row }) =>
          Date.parse(row.record.ended_at ?? '') < endedBefore && !isNeeded(tables, row) && !isActive(tables, row),
      );
      for (const { row } of due) dropRecords(tables, row);
      const last = found.length > size ? page.at(-1) : undefined;
      return { deleted: due.length, next_cursor: last === undefined ? null : formatCursor(last) };
    },

    async purgeDelivered({ before, limit }) {
      checkOpen(tables);
      const old = [...outbox]
        .filter(([, { record }]) => record.state === 'delivered')
        .slice(0, limit)
        .filter(([, { record }]) => Date.parse(record.created_at) < before);
      for (const [key] of old) outbox.delete(key);
      return old.length;
    },

    async purgeResults({ before, limit }) {
      checkOpen(tables);
      const old = [...results].slice(0, limit).filter(([, { keptAt }]) => keptAt < before);
      for (const [key] of old) results.delete(key);
      return old.length;
    },
  };

  function listPurged(
    { purged }: Tables,
    after: { readonly endedAt: number; readonly sequence: number },
  ): { readonly at: number; readonly row: RunRow }[] {
    return [...purged]
      .flatMap(([id, at]) => {
        const row = runs.get(id);
        return row === undefined ? [] : [{ at, row }];
      })
      .filter(({ at, row }) => at > after.endedAt || (at === after.endedAt && row.sequence > after.sequence))
      .toSorted((one, other) => one.at - other.at || one.row.sequence - other.row.sequence);
  }
}

function formatCursor({ at, row }: { readonly at: number; readonly row: RunRow }): string {
  return formatEndCursor({ endedAt: at, sequence: row.sequence });
}

/** Lists ended runs in the order they ended. */
export function listByEnd({ runs }: Tables): { readonly endedAt: number; readonly row: RunRow }[] {
  return [...runs.values()]
    .flatMap((row) => (row.record.ended_at === null ? [] : [{ endedAt: Date.parse(row.record.ended_at), row }]))
    .toSorted((one, other) => one.endedAt - other.endedAt || one.row.sequence - other.row.sequence);
}

/** Deletes at most this many of a run's oldest events; returns the number deleted. */
function dropEvents({ events }: Tables, id: string, maxEvents: number): number {
  let dropped = 0;
  for (const protocol of ['fcmp', 'rasp']) {
    const key = `${protocol} ${id}`;
    dropped += events.get(key)?.splice(0, maxEvents - dropped).length ?? 0;
    if (events.get(key)?.length === 0) events.delete(key);
  }
  return dropped;
}

/** Whether a run belongs to an undecided order or an open inbox item, whose evidence is its folder and events. */
function isNeeded(tables: Tables, { record: { order } }: RunRow): boolean {
  if (order === null) return false;
  if (tables.orders.get(formatOrderKey(order.issue_ref, order.run_id))?.record.settled_at === null) return true;
  return [...tables.inbox.values()].some(
    ({ record }) =>
      record.issue_ref === order.issue_ref && record.run_id === order.run_id && record.resolution === null,
  );
}

/** Whether an order is active in its issue, or part of the active race, so results are compared with it. */
function isActive(tables: Tables, { record: { order } }: RunRow): boolean {
  if (order === null) return false;
  const issue = tables.issues.get(order.issue_ref)?.record;
  const group = tables.orders.get(formatOrderKey(order.issue_ref, order.run_id))?.record.group;
  return issue?.active_run_id === order.run_id || (group !== undefined && issue?.active_group === group);
}

function dropRecords(tables: Tables, { record: { id, order } }: RunRow): void {
  const isOfOrder = ({
    record,
  }: {
    readonly record: { readonly issue_ref: string; readonly run_id: string };
  }): boolean => order !== null && record.issue_ref === order.issue_ref && record.run_id === order.run_id;
  for (const [key, row] of tables.executions) if (isOfOrder(row)) tables.executions.delete(key);
  for (const [key, row] of tables.inbox) if (isOfOrder(row)) tables.inbox.delete(key);
  if (order !== null) {
    const key = formatOrderKey(order.issue_ref, order.run_id);
    tables.orders.delete(key);
    deleteValue(tables.orderKeysByRequest, key);
  }
  deleteValue(tables.runIdsByRequest, id);
  dropEvents(tables, id, Number.MAX_SAFE_INTEGER);
  tables.purged.delete(id);
  tables.runs.delete(id);
}

function deleteValue(map: Map<string, string>, value: string): void {
  for (const [key, each] of map) if (each === value) map.delete(key);
}
