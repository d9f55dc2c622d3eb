import type { Decision } from '../../records/index.js';
import type { OrderSettlement, OrderStore } from '../../orders/index.js';
import { orderNotFound } from '../refusals.js';
import { columnsOf } from './columns.js';
import type { Context } from './context.js';
import type { Queryable } from './driver.js';
import {
  executionValues,
  insertExecution,
  insertItem,
  insertMessages,
  itemValues,
  messageValues,
} from './insert-rows.js';
import { NOTIFY_QUEUE } from './queue.js';
import { closeDigest, digestValues } from './run-rows.js';

/** Settles orders. */
export function createSettleOrder({ database }: Context): Pick<OrderStore, 'settleOrder'> {
  return {
    async settleOrder(settlement) {
      if (await settleActive(database, settlement)) return { decision: settlement.active.decision, repeated: false };
      // Not the active run, or settled already; a run that was replaced never becomes active again.
      if (await settleStale(database, settlement)) return { decision: settlement.stale.decision, repeated: false };
      return { decision: await findDecision(database, settlement), repeated: true };
    },
  };
}

/** Ends the run of the order in `source`; a run that has ended keeps its result. The time is parameter 3. */
function endRunOf(source: string, result: number): string {
  return `UPDATE sluice.runs SET state = 'ended', lease_until = NULL, reply = NULL, ended_at = $3, result = $${result}
    FROM ${source} WHERE runs.id = ${source}.run AND runs.state <> 'ended'
    RETURNING runs.seq, runs.state, runs.started_at, runs.ended_at`;
}

/**
 * One statement, and the fence decides whether any of it happens: the guarded update of the issue's row waits for
 * whoever is changing it and then looks again, so nothing here is decided by what was true before.
 */
const SETTLE_ACTIVE = `
  WITH fence AS (
    UPDATE sluice.issues SET
      state = CASE WHEN state = 'needs-human' THEN state ELSE $4 END,
      active_settled = true,
      updated_at = $3
    WHERE issue_ref = $1 AND active_run_id = $2 AND NOT active_settled
    RETURNING ${NOTIFY_QUEUE}
  ), settled AS (
    UPDATE sluice.orders SET settled_at = $3, decision = $5, result = $6
    FROM fence
    WHERE issue_ref = $1 AND run_id = $2
    RETURNING run
  ), ended AS (
    ${endRunOf('settled', 7)}
  ), counted AS (
    ${closeDigest(8, 'ended')}
  ), executed AS (
    ${insertExecution(13, 'fence')}
  ), asked AS (
    ${insertItem(20, 'fence')}
  ), queued AS (
    ${insertMessages(24, 'fence')}
  )
  SELECT true AS done FROM fence`;

async function settleActive(database: Queryable, settlement: OrderSettlement): Promise<boolean> {
  const { issueRef, runId, now, runResult, active } = settlement;
  const { rows } = await database.query(SETTLE_ACTIVE, [
    issueRef,
    runId,
    now,
    active.state,
    JSON.stringify(active.decision),
    active.result === null ? null : JSON.stringify(active.result),
    JSON.stringify(runResult),
    ...digestValues(runResult),
    ...executionValues(active.execution),
    ...itemValues(active.item),
    ...messageValues(active.outbox, now),
  ]);
  return rows.length > 0;
}

/** The result of a run that is not the active one is kept, and changes nothing. */
const SETTLE_STALE = `
  WITH settled AS (
    UPDATE sluice.orders SET settled_at = $3, decision = $4, result = $5
    WHERE issue_ref = $1 AND run_id = $2 AND decision IS NULL
    RETURNING run, ${NOTIFY_QUEUE}
  ), ended AS (
    ${endRunOf('settled', 6)}
  ), counted AS (
    ${closeDigest(7, 'ended')}
  ), executed AS (
    ${insertExecution(12, 'settled')}
  )
  SELECT true AS done FROM settled`;

async function settleStale(database: Queryable, settlement: OrderSettlement): Promise<boolean> {
  const { issueRef, runId, now, runResult, stale } = settlement;
  const { rows } = await database.query(SETTLE_STALE, [
    issueRef,
    runId,
    now,
    JSON.stringify(stale.decision),
    stale.result === null ? null : JSON.stringify(stale.result),
    JSON.stringify(runResult),
    ...digestValues(runResult),
    ...executionValues(stale.execution),
  ]);
  return rows.length > 0;
}

async function findDecision(database: Queryable, { issueRef, runId }: OrderSettlement): Promise<Decision> {
  const { rows } = await database.query(`SELECT decision FROM sluice.orders WHERE issue_ref = $1 AND run_id = $2`, [
    issueRef,
    runId,
  ]);
  if (rows[0] === undefined) throw orderNotFound(issueRef, runId);
  return columnsOf(rows[0]).json('decision') as Decision;
}
