import type { ExecutionRecord, InboxItem, NewOutboxMessage } from '../records/index.js';
import type { DecidedOrder, OrderSettlement } from '../ports/index.js';
import type { GuardedChange, Session, Value } from '../driver.js';
import { buildMessagesInsert, listMessages } from './outbox.js';

/** The order that a decision is about. Parameters 1 to 3 of every statement. */
export type DecisionName = Pick<OrderSettlement, 'issueRef' | 'runId' | 'now'>;

/** A decision; one that only archives has no item and no messages. */
export type StoredDecision = OrderSettlement['stale'] & Partial<DecidedOrder>;

/** The number of parameters of a decision, from number 4 on. */
const DECISION_PARAMETERS = 14;
export const FIRST_FREE_PARAMETER = 4 + DECISION_PARAMETERS;

/** The statements of a guarded change that decide an order and write all resulting rows. */
export const DECISION_STATEMENTS: readonly string[] = [
  `UPDATE orders SET settled_at = $3, decision = $4, result = $5 WHERE run IN (SELECT run FROM guard)`,
  buildExecutionInsert(6, 'guard'),
  `INSERT INTO inbox (id, issue_ref, run_id, item)
   SELECT $13::text, $14::text, $15::text, $16::text FROM guard WHERE $13::text IS NOT NULL ON CONFLICT DO NOTHING`,
  buildMessagesInsert('$17', '$3', 'guard'),
];

export function listDecisionValues(
  { issueRef, runId, now }: DecisionName,
  { decision, result, execution, item = null, outbox = [] }: StoredDecision,
): Value[] {
  return [
    issueRef,
    runId,
    now,
    JSON.stringify(decision),
    result === null ? null : JSON.stringify(result),
    ...listExecutionValues(execution),
    ...listItemValues(item),
    listMessages(outbox),
  ];
}

/** An order is decided once. */
export const UNDECIDED_ORDER = `
  SELECT run FROM orders WHERE issue_ref = $1 AND run_id = $2 AND decision IS NULL FOR UPDATE`;

const DECIDE: GuardedChange = { guard: UNDECIDED_ORDER, statements: DECISION_STATEMENTS };

/** Decides an order whose run has ended, inside a transaction. */
export async function decideOrder(session: Session, name: DecisionName, decided: StoredDecision): Promise<void> {
  await session.change(DECIDE, listDecisionValues(name, decided));
}

/** Adds an execution and messages, inside a transaction. */
export async function addExecution(
  session: Session,
  execution: ExecutionRecord,
  outbox: readonly NewOutboxMessage[],
  now: number,
): Promise<void> {
  await session.run(buildExecutionInsert(1), listExecutionValues(execution));
  if (outbox.length > 0) await session.run(buildMessagesInsert('$1', '$2'), [listMessages(outbox), now]);
}

/** Builds the insert of an execution, whose values are the parameters from number `first` on. */
function buildExecutionInsert(first: number, source?: string): string {
  const values = Array.from({ length: 7 }, (_, index) => `$${first + index}::text`).join(', ');
  return `
    INSERT INTO executions (id, issue_ref, run_id, worker, decision, at, record)
    SELECT ${values} ${source === undefined ? '' : `FROM ${source}`} WHERE true ON CONFLICT DO NOTHING`;
}

function listExecutionValues(execution: ExecutionRecord): string[] {
  const { id, issue_ref, run_id, worker, decision, at } = execution;
  return [id, issue_ref, run_id, worker, decision, at, JSON.stringify(execution)];
}

function listItemValues(item: InboxItem | null): (string | null)[] {
  return item === null ? [null, null, null, null] : [item.id, item.issue_ref, item.run_id, JSON.stringify(item)];
}
