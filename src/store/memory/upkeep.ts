import { endCursor, readEndPage, toListed } from '../page.js';
import { countStates, OPEN_ORDER_STATES, OPEN_RUN_STATES } from '../upkeep.js';
import type { Upkeep } from '../upkeep.js';
import { checkOpen, readOrder, readRun, orderKey, type RunRow, type Tables } from './tables.js';

/** Counts, and deletion of old data. */
export function createUpkeep(tables: Tables): Upkeep {
  const { runs, outbox, results } = tables;
  return {
    async measure() {
      checkOpen(tables);
      const open = [...outbox.values()].filter(({ record: { state } }) => state === 'waiting' || state === 'sending');
      const written = open.map(({ record }) => Date.parse(record.created_at));
      return {
        runs: countStates(OPEN_RUN_STATES, tally([...runs.values()].map(({ record }) => record.state))),
        orders: countStates(
          OPEN_ORDER_STATES,
          tally([...tables.openOrders].map((row) => readOrder(tables, row).state)),
        ),
        inbox: [...tables.inbox.values()].filter(({ record }) => record.resolution === null).length,
        outbox: {
          open: open.length,
          dead: [...outbox.values()].filter(({ record }) => record.state === 'dead').length,
          oldest: written.reduce<number | null>((oldest, time) => Math.min(oldest ?? time, time), null),
        },
      };
    },

    async listEndedRuns(page) {
      checkOpen(tables);
      const { size, after } = readEndPage(page);
      const found = inOrderOfEnd(tables).filter(
        ({ endedAt, row }) => endedAt > after.endedAt || (endedAt === after.endedAt && row.sequence > after.sequence),
      );
      return toListed(
        found,
        { size },
        ({ row }) => readRun(tables, row),
        ({ endedAt, row }) => endCursor({ endedAt, sequence: row.sequence }),
      );
    },

    async listForgettableRuns({ endedBefore, limit }) {
      checkOpen(tables);
      return inOrderOfEnd(tables)
        .filter(
          ({ endedAt, row }) => endedAt < endedBefore && !tables.forgotten.has(row.record.id) && !isNeeded(tables, row),
        )
        .slice(0, limit)
        .map(({ row }) => row.record.id);
    },

    async forgetEvents({ id, limit }) {
      checkOpen(tables);
      if (runs.get(id)?.record.state !== 'ended') return true;
      let left = limit;
      for (const protocol of ['fcmp', 'rasp'])
        left -= tables.events.get(`${protocol} ${id}`)?.splice(0, left).length ?? 0;
      if (left <= 0) return false;
      for (const protocol of ['fcmp', 'rasp']) tables.events.delete(`${protocol} ${id}`);
      tables.forgotten.add(id);
      return true;
    },

    async findForgottenRuns(ids) {
      checkOpen(tables);
      return ids.filter((id) => tables.forgotten.has(id));
    },

    async findSettledRuns({ ids, endedBefore }) {
      checkOpen(tables);
      return ids.filter((id) => {
        const row = runs.get(id);
        const endedAt = row?.record.ended_at ?? null;
        return row !== undefined && endedAt !== null && Date.parse(endedAt) < endedBefore && !isUnsettled(tables, row);
      });
    },

    async forgetDelivered({ before, limit }) {
      checkOpen(tables);
      const old = [...outbox]
        .filter(([, { record }]) => record.state === 'delivered')
        .slice(0, limit)
        .filter(([, { record }]) => Date.parse(record.created_at) < before);
      for (const [key] of old) outbox.delete(key);
      return old.length;
    },

    async forgetResults({ before, limit }) {
      checkOpen(tables);
      const old = [...results].slice(0, limit).filter(([, { keptAt }]) => keptAt < before);
      for (const [key] of old) results.delete(key);
      return old.length;
    },
  };
}

function tally(states: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

function inOrderOfEnd({ runs }: Tables): { readonly endedAt: number; readonly row: RunRow }[] {
  return [...runs.values()]
    .flatMap((row) => (row.record.ended_at === null ? [] : [{ endedAt: Date.parse(row.record.ended_at), row }]))
    .toSorted((one, other) => one.endedAt - other.endedAt || one.row.sequence - other.row.sequence);
}

function isUnsettled(
  tables: Tables,
  { record: { order } }: { readonly record: Pick<RunRow['record'], 'order'> },
): boolean {
  return order !== null && tables.orders.get(orderKey(order.issue_ref, order.run_id))?.record.settled_at === null;
}

/** Runs of undecided orders, and of open inbox items, are kept: their folders and events are the evidence. */
function isNeeded(tables: Tables, { record: { order } }: RunRow): boolean {
  if (order === null) return false;
  if (isUnsettled(tables, { record: { order } })) return true;
  return [...tables.inbox.values()].some(
    ({ record }) =>
      record.issue_ref === order.issue_ref && record.run_id === order.run_id && record.resolution === null,
  );
}
