import { formatEndCursor, readEndPage, toListed } from '../page.js';
import { COUNT_CLAIM_TTL_MS, countStates, OPEN_ORDER_STATES, OPEN_RUN_STATES } from '../maintenance.js';
import type { Maintenance } from '../maintenance.js';
import { listByEnd } from './retention.js';
import { checkOpen, formatOrderKey, readOrder, readRun, type RunRow, type Tables } from './tables.js';

/** Creates the store's methods for counting work and listing ended runs. */
export function createMaintenance(tables: Tables): Maintenance {
  const { runs, outbox } = tables;
  const counted = new Map<string, number>();
  return {
    async countOpenWork() {
      checkOpen(tables);
      const open = [...outbox.values()].filter(({ record: { state } }) => state === 'waiting' || state === 'sending');
      const creationTimes = open.map(({ record }) => Date.parse(record.created_at));
      return {
        runs: countStates(OPEN_RUN_STATES, countEach([...runs.values()].map(({ record }) => record.state))),
        orders: countStates(
          OPEN_ORDER_STATES,
          countEach([...tables.openOrders].map((row) => readOrder(tables, row).state)),
        ),
        inbox: [...tables.inbox.values()].filter(({ record }) => record.resolution === null).length,
        outbox: {
          open: open.length,
          dead: [...outbox.values()].filter(({ record }) => record.state === 'dead').length,
          oldest: creationTimes.reduce<number | null>((oldest, time) => Math.min(oldest ?? time, time), null),
        },
      };
    },

    async listEndedRuns(page) {
      checkOpen(tables);
      const { size, after } = readEndPage(page);
      const found = listByEnd(tables).filter(
        ({ endedAt, row }) => endedAt > after.endedAt || (endedAt === after.endedAt && row.sequence > after.sequence),
      );
      return toListed(
        found,
        { size },
        ({ row }) => readRun(tables, row),
        ({ endedAt, row }) => formatEndCursor({ endedAt, sequence: row.sequence }),
      );
    },

    async claimForMetrics({ ids, now }) {
      checkOpen(tables);
      for (const [id, at] of counted) if (at < now - COUNT_CLAIM_TTL_MS) counted.delete(id);
      const claimed = ids.filter((id, index) => !counted.has(id) && ids.indexOf(id) === index);
      for (const id of claimed) counted.set(id, now);
      return claimed;
    },

    async findHosts(ids) {
      checkOpen(tables);
      return new Map(
        ids.flatMap((id): [string, string][] => {
          const host = runs.get(id)?.record.owner?.host;
          return host === undefined || host === '' ? [] : [[id, host]];
        }),
      );
    },

    async findRunsWithoutEvents(ids) {
      checkOpen(tables);
      return ids.filter((id) => tables.purged.has(id));
    },

    async findSettledRuns({ ids, endedBefore }) {
      checkOpen(tables);
      return ids.filter((id) => {
        const row = runs.get(id);
        const endedAt = row?.record.ended_at ?? null;
        return row !== undefined && endedAt !== null && Date.parse(endedAt) < endedBefore && !isUnsettled(tables, row);
      });
    },
  };
}

function countEach(states: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

function isUnsettled(
  tables: Tables,
  { record: { order } }: { readonly record: Pick<RunRow['record'], 'order'> },
): boolean {
  return order !== null && tables.orders.get(formatOrderKey(order.issue_ref, order.run_id))?.record.settled_at === null;
}
