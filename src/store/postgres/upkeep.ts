import { endCursor, readEndPage, toListed } from '../page.js';
import { countStates, OPEN_ORDER_STATES, OPEN_RUN_STATES } from '../upkeep.js';
import type { Upkeep } from '../upkeep.js';
import { readColumns, readRun } from './rows.js';
import type { Context } from './context.js';
import type { Row } from './driver.js';

/** Counts, and deletion of old data. */
export function createUpkeep({ database }: Context): Upkeep {
  return {
    async measure() {
      const { rows: runs } = await database.query(COUNT_RUNS);
      const { rows: orders } = await database.query(COUNT_ORDERS);
      const { rows: waiting } = await database.query(MEASURE_WAITING);
      const { number, numberOrNull } = readColumns(waiting[0] ?? {});
      return {
        runs: countStates(OPEN_RUN_STATES, runs.map(readCount)),
        orders: countStates(OPEN_ORDER_STATES, orders.map(readCount)),
        inbox: number('inbox'),
        outbox: { open: number('open'), dead: number('dead'), oldest: numberOrNull('oldest') },
      };
    },

    async listEndedRuns(page) {
      const { size, after } = readEndPage(page);
      const { rows } = await database.query(
        `SELECT * FROM sluice.runs WHERE state = 'ended' AND (ended_at, seq) > ($1, $2) ORDER BY ended_at, seq LIMIT $3`,
        [after.endedAt, after.sequence, size + 1],
      );
      return toListed(rows, { size }, readRun, formatCursor);
    },

    listForgettableRuns: async ({ endedBefore, limit }) =>
      readIds(await database.query(LIST_FORGETTABLE, [endedBefore, limit])),

    forgetEvents: async ({ id, limit, now }) =>
      database.transaction(async (transaction) => {
        const { rows: found } = await transaction.query(
          `SELECT id FROM sluice.runs WHERE id = $1 AND state = 'ended' FOR UPDATE`,
          [id],
        );
        if (found.length === 0) return true;
        const { rows: dropped } = await transaction.query(DROP_EVENTS, [id, limit]);
        if (dropped.length >= limit) return false;
        await transaction.query(`UPDATE sluice.runs SET forgotten_at = $2 WHERE id = $1`, [id, now]);
        return true;
      }),

    findForgottenRuns: async (ids) =>
      readIds(
        await database.query(
          `SELECT id FROM sluice.runs
           WHERE id IN (SELECT json_array_elements_text($1::json)) AND forgotten_at IS NOT NULL`,
          [JSON.stringify(ids)],
        ),
      ),

    findSettledRuns: async ({ ids, endedBefore }) =>
      readIds(await database.query(FIND_SETTLED, [JSON.stringify(ids), endedBefore])),

    async forgetDelivered({ before, limit }) {
      const { rows } = await database.query(DROP_DELIVERED, [limit, before]);
      return rows.length;
    },

    async forgetResults({ before, limit }) {
      const { rows } = await database.query(DROP_RESULTS, [limit, before]);
      return rows.length;
    },
  };
}

function readIds({ rows }: { readonly rows: readonly Row[] }): string[] {
  return rows.map((row) => readColumns(row).text('id'));
}

function readCount(row: Row): [state: string, count: number] {
  const { text, number } = readColumns(row);
  return [text('state'), number('count')];
}

function formatCursor(row: Row): string {
  const { number } = readColumns(row);
  return endCursor({ endedAt: number('ended_at'), sequence: number('seq') });
}

const COUNT_RUNS = `
  SELECT state, count(*) AS count FROM sluice.runs WHERE state IN ('queued', 'running', 'waiting') GROUP BY state`;
const COUNT_ORDERS = `
  SELECT state, count(*) AS count FROM sluice.order_records WHERE settled_at IS NULL GROUP BY state`;
const MEASURE_WAITING = `
  SELECT
    (SELECT count(*) FROM sluice.inbox WHERE resolution IS NULL) AS inbox,
    (SELECT count(*) FROM sluice.outbox WHERE state IN ('waiting', 'sending')) AS open,
    (SELECT min(created_at) FROM sluice.outbox WHERE state IN ('waiting', 'sending')) AS oldest,
    (SELECT count(*) FROM sluice.outbox WHERE state = 'dead') AS dead`;

/** Runs of undecided orders, and of open inbox items, are kept: their folders and events are the evidence. */
const LIST_FORGETTABLE = `
  SELECT id FROM sluice.runs AS run
  WHERE state = 'ended' AND forgotten_at IS NULL AND ended_at < $1
    AND NOT EXISTS (
      SELECT 1 FROM sluice.inbox
      WHERE inbox.issue_ref = run.order_issue_ref AND inbox.run_id = run.order_run_id AND resolution IS NULL)
    AND NOT EXISTS (
      SELECT 1 FROM sluice.orders
      WHERE orders.issue_ref = run.order_issue_ref AND orders.run_id = run.order_run_id
        AND orders.settled_at IS NULL)
  ORDER BY ended_at LIMIT $2`;

const FIND_SETTLED = `
  SELECT id FROM sluice.runs AS run
  WHERE id IN (SELECT json_array_elements_text($1::json)) AND state = 'ended' AND ended_at < $2
    AND NOT EXISTS (
      SELECT 1 FROM sluice.orders
      WHERE orders.issue_ref = run.order_issue_ref AND orders.run_id = run.order_run_id
        AND orders.settled_at IS NULL)`;

/** Oldest first, so that a concurrent reader sees the gap before the remaining events. */
const DROP_EVENTS = `
  DELETE FROM sluice.event_packs WHERE (run_id, protocol, attempt, last_seq) IN (
    SELECT run_id, protocol, attempt, last_seq FROM sluice.event_packs WHERE run_id = $1
    ORDER BY protocol, attempt, last_seq LIMIT $2)
  RETURNING true AS done`;

/** Only the oldest rows are read: if they are too recent, so are all others. */
const DROP_DELIVERED = `
  DELETE FROM sluice.outbox WHERE seq IN (
    SELECT seq FROM (
      SELECT seq, created_at FROM sluice.outbox WHERE state = 'delivered' ORDER BY seq LIMIT $1) AS oldest
    WHERE created_at < $2)
  RETURNING true AS done`;

const DROP_RESULTS = `
  DELETE FROM sluice.results WHERE seq IN (
    SELECT seq FROM (SELECT seq, kept_at FROM sluice.results ORDER BY seq LIMIT $1) AS oldest WHERE kept_at < $2)
  RETURNING true AS done`;
