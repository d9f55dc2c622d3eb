import type { Decision } from '../records/index.js';
import type { OrderStore, OrderSettlement } from '../ports/index.js';
import type { Dialect, GuardedChange, Session, Row } from '../driver.js';
import type { StoredEntry } from '../queue-rules.js';
import { readJsonOrNull, readText } from '../rows.js';
import {
  decideOrder,
  DECISION_STATEMENTS,
  FIRST_FREE_PARAMETER,
  listDecisionValues,
  UNDECIDED_ORDER,
} from './decisions.js';
import { buildEndStatements, listEndValues } from '../run-digest.js';
import { StoreError } from '../store-error.js';

type Settled = Awaited<ReturnType<OrderStore['settleOrder']>>;

export async function settleOrder({ database, announce }: Dialect, settlement: OrderSettlement): Promise<Settled> {
  const { heldBy } = settlement;
  const { runs, ...settled } =
    heldBy === undefined
      ? await settle(database, settlement)
      : await database.transaction(async (session) => settleHeld(session, settlement, heldBy));
  await announce({ queue: true, runs });
  return settled;
}

type Ended = Settled & { readonly runs: readonly string[] };

async function settle(session: Session, settlement: OrderSettlement): Promise<Ended> {
  const { race, runResult, active, stale } = settlement;
  const entered = race && (await session.transaction(async (inner) => enterRace(inner, settlement, race)));
  if (entered !== undefined) return entered;
  const ended = listEndValues(runResult);
  const settled = await session.change(SETTLE_ACTIVE, [
    ...listDecisionValues(settlement, active),
    ...ended,
    active.state,
  ]);
  if (settled.length > 0) return { decision: active.decision, repeated: false, runs: settled.map(readRunName) };
  // Not the active run, or already settled; a replaced run never becomes active again.
  const archived = await session.change(SETTLE_STALE, [...listDecisionValues(settlement, stale), ...ended]);
  if (archived.length > 0) return { decision: stale.decision, repeated: false, runs: archived.map(readRunName) };
  return findSettled(session, settlement);
}

/** Settles an order only if the run is still this worker's, also after its end, when the decision is written. */
async function settleHeld(session: Session, settlement: OrderSettlement, heldBy: string): Promise<Ended> {
  const { issueRef, runId } = settlement;
  // As everywhere, the issue is locked first.
  await session.get('SELECT 1 AS found FROM issues WHERE issue_ref = $1 FOR UPDATE', [issueRef]);
  const held = await session.get(FIND_HELD, [issueRef, runId, heldBy]);
  if (held === undefined) return findSettled(session, settlement);
  return settle(session, settlement);
}

const FIND_HELD = `
  SELECT 1 AS found FROM runs
  WHERE order_issue_ref = $1 AND id = (SELECT run FROM orders WHERE issue_ref = $1 AND run_id = $2) AND worker_id = $3
  FOR UPDATE`;

/** Returns an earlier decision. Throws without one: the order does not exist, or another worker holds it. */
async function findSettled(session: Session, { issueRef, runId }: OrderSettlement): Promise<Ended> {
  const row = await session.get('SELECT decision FROM orders WHERE issue_ref = $1 AND run_id = $2', [issueRef, runId]);
  const decision = row === undefined ? null : readJsonOrNull(row, 'decision');
  if (decision === null) {
    throw new StoreError(
      'ORDER_NOT_FOUND',
      `Cannot find the order "${runId}" for issue "${issueRef}". Submit it first.`,
    );
  }
  return { decision: decision as Decision, repeated: true, runs: [] };
}

const readRunName = (row: Row): string => readText(row, 'run');

const END_RUN = buildEndStatements('SELECT run FROM guard', { now: 3, result: FIRST_FREE_PARAMETER });
const STATE = `$${FIRST_FREE_PARAMETER + 8}`;

/**
 * Settles the active run: only the active run changes its issue's state, and only a human decision changes
 * `needs-human`. The guard waits for concurrent changes of the issue and then checks again, so no decision is based on
 * outdated values.
 */
export const SETTLE_ACTIVE: GuardedChange = {
  guard: `
    SELECT issues.issue_ref, orders.run
    FROM issues CROSS JOIN orders ON orders.issue_ref = issues.issue_ref AND orders.run_id = $2
    WHERE issues.issue_ref = $1 AND active_run_id = $2 AND active_settled = 0 FOR UPDATE OF issues`,
  statements: [
    ...END_RUN,
    ...DECISION_STATEMENTS,
    `UPDATE issues SET state = CASE WHEN state = 'needs-human' THEN state ELSE ${STATE} END, active_settled = 1, updated_at = $3
     WHERE issue_ref IN (SELECT issue_ref FROM guard)`,
  ],
};

/** Stores the result of an inactive run; nothing else changes. */
const SETTLE_STALE: GuardedChange = { guard: UNDECIDED_ORDER, statements: [...END_RUN, ...DECISION_STATEMENTS] };

/**
 * Stores a run's result in a race; the last run to enter settles all of them. Undefined if the race is no longer active
 * in its issue. The first statement is guarded by the active group and locks the issue, so runs enter one at a time.
 */
async function enterRace(
  session: Session,
  settlement: OrderSettlement,
  race: NonNullable<OrderSettlement['race']>,
): Promise<Ended | undefined> {
  const { issueRef, runId, now, stale, runResult } = settlement;
  if ((await session.run(LOCK_RACE, [issueRef, race.group])) === 0) return undefined;
  const stored: StoredEntry = { entry: race.entry, stale };
  const values = [issueRef, runId, now, JSON.stringify(stored), ...listEndValues(runResult)];
  const entered = await session.change(ENTER_RACE, values);
  const all = (await session.all(LIST_ENTRIES, [issueRef, race.group])).map((row) => ({
    run: readRunName(row),
    runId: readText(row, 'run_id'),
    stored: readJsonOrNull(row, 'entry') as StoredEntry | null,
  }));
  const open = all.filter((each) => each.stored === null).map((each) => each.runId);
  const runs = all.map(({ run }) => run);
  if (entered.length === 0) {
    // This run has already entered: the race is still undecided, or a user has to choose.
    const own = all.find((each) => each.runId === runId)?.stored;
    if (open.length === 0 || own === undefined || own === null) return undefined;
    return { decision: own.entry.execution.decision, repeated: true, waitsFor: open, runs };
  }
  const { decision } = race.entry.execution;
  if (open.length > 0) return { decision, repeated: false, waitsFor: open, runs };
  const { winner, state, orders } = race.conclude(all.flatMap((each) => each.stored?.entry ?? []));
  await session.run(CONCLUDE_RACE, [issueRef, state, winner]);
  for (const order of orders) await decideOrder(session, { issueRef, runId: order.runId, now }, order);
  return { decision: orders.find((order) => order.runId === runId)?.decision ?? decision, repeated: false, runs };
}

const LOCK_RACE = `UPDATE issues SET active_group = active_group WHERE issue_ref = $1 AND active_group = $2`;

/** A run enters once. */
const ENTER_RACE: GuardedChange = {
  guard: `
    SELECT run FROM orders WHERE issue_ref = $1 AND run_id = $2 AND entry IS NULL AND decision IS NULL FOR UPDATE`,
  statements: [
    ...buildEndStatements('SELECT run FROM guard', { now: 3, result: 5 }),
    'UPDATE orders SET entry = $4 WHERE run IN (SELECT run FROM guard)',
    'UPDATE issues SET updated_at = $3 WHERE issue_ref = $1 AND EXISTS (SELECT 1 FROM guard)',
  ],
};

const LIST_ENTRIES = 'SELECT run, run_id, entry FROM orders WHERE issue_ref = $1 AND race_group = $2 ORDER BY seq';

const CONCLUDE_RACE = `
  UPDATE issues SET state = $2, active_run_id = $3::text, active_settled = 1,
    active_group = CASE WHEN $3::text IS NULL THEN active_group END
  WHERE issue_ref = $1`;
