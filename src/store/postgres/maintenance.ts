import { formatEndCursor, readEndPage, toListed } from '../page.js';
import { MAX_CLAIMS_DELETED, COUNT_CLAIM_TTL_MS, countStates, OPEN_RUN_STATES } from '../maintenance.js';
import type { Maintenance } from '../maintenance.js';
import { readColumns, readRun } from './rows.js';
import type { Context } from './context.js';
import type { Row } from './driver.js';

/** Creates the store's methods for counting work and listing ended runs. */
export function createMaintenance({ database }: Context): Maintenance {
  return {
    async countOpenWork() {
      const { rows: runs } = await database.query(COUNT_RUNS, []);
      const { rows: waiting } = await database.query(MEASURE_WAITING, []);
      const { number, numberOrNull } = readColumns(waiting[0] ?? {});
      return {
        runs: countStates(OPEN_RUN_STATES, runs.map(readCount)),
        orders: { queued: number('orders') - number('running'), running: number('running') },
        inbox: number('inbox'),
        outbox: { open: number('open'), dead: number('dead'), oldest: numberOrNull('oldest') },
      };
    },

    async claimForMetrics({ ids, now }) {
      if (ids.length === 0) return [];
      await database.query(DELETE_CLAIMS, [now - COUNT_CLAIM_TTL_MS]);
      const { rows } = await database.query(CLAIM_FOR_METRICS, [JSON.stringify(ids), now]);
      return rows.map((row) => readColumns(row).text('id'));
    },

    async listEndedRuns(page) {
      const { size, after } = readEndPage(page);
      const { rows } = await database.query(
        `SELECT * FROM sluice.runs WHERE state = 'ended' AND (ended_at, seq) > ($1, $2) ORDER BY ended_at, seq LIMIT $3`,
        [after.endedAt, after.sequence, size + 1],
      );
      return toListed(rows, { size }, readRun, formatCursor);
    },

    async findHosts(ids) {
      const { rows } = await database.query(
        `SELECT id, owner_host FROM sluice.runs
         WHERE id IN (SELECT json_array_elements_text($1::json)) AND owner_host IS NOT NULL`,
        [JSON.stringify(ids)],
      );
      return new Map(
        rows.map((row) => {
          const { text } = readColumns(row);
          return [text('id'), text('owner_host')];
        }),
      );
    },

    findRunsWithoutEvents: async (ids) =>
      readIds(
        await database.query(
          `SELECT id FROM sluice.runs
           WHERE id IN (SELECT json_array_elements_text($1::json)) AND forgotten_at IS NOT NULL`,
          [JSON.stringify(ids)],
        ),
      ),

    findSettledRuns: async ({ ids, endedBefore }) =>
      readIds(await database.query(FIND_SETTLED, [JSON.stringify(ids), endedBefore])),
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
  return formatEndCursor({ endedAt: number('ended_at'), sequence: number('seq') });
}

const COUNT_RUNS = `
  SELECT state, count(*) AS count FROM sluice.runs WHERE state IN ('queued', 'running', 'waiting') GROUP BY state`;
/** Reads only claimed runs and runs of open races, because in a long queue nearly all open orders are queued. */
const MEASURE_WAITING = `
  SELECT
    (SELECT count(*) FROM sluice.orders WHERE settled_at IS NULL) AS orders,
    (SELECT count(*) FROM sluice.runs WHERE state IN ('running', 'waiting') AND order_run_id IS NOT NULL)
      + (SELECT count(*) FROM sluice.orders WHERE settled_at IS NULL AND entry IS NOT NULL) AS running,
    (SELECT count(*) FROM sluice.inbox WHERE resolution IS NULL) AS inbox,
    (SELECT count(*) FROM sluice.outbox WHERE state IN ('waiting', 'sending')) AS open,
    (SELECT created_at FROM sluice.outbox WHERE state IN ('waiting', 'sending') ORDER BY seq LIMIT 1) AS oldest,
    (SELECT count(*) FROM sluice.outbox WHERE state = 'dead') AS dead`;

const FIND_SETTLED = `
  SELECT id FROM sluice.runs AS run
  WHERE id IN (SELECT json_array_elements_text($1::json)) AND state = 'ended' AND ended_at < $2
    AND NOT EXISTS (
      SELECT 1 FROM sluice.orders
      WHERE orders.issue_ref = run.order_issue_ref AND orders.run_id = run.order_run_id
        AND orders.settled_at IS NULL)`;

const DELETE_CLAIMS = `
  DELETE FROM sluice.counted WHERE id = ANY (ARRAY(
    SELECT id FROM sluice.counted WHERE at < $1 ORDER BY at LIMIT ${MAX_CLAIMS_DELETED} FOR UPDATE SKIP LOCKED))`;

/** Sorted by id, so two servers that claim the same ids do not deadlock. */
const CLAIM_FOR_METRICS = `
  INSERT INTO sluice.counted (id, at)
    SELECT id, $2 FROM json_array_elements_text($1::json) AS id ORDER BY id COLLATE "C"
  ON CONFLICT DO NOTHING RETURNING id`;
