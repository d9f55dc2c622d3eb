import type { InboxItem, OrderRecord, Resolution } from '../../records/index.js';
import type { ItemResolution, OrderStore, ResolveOutcome } from '../../orders/index.js';
import { columnsOf } from './columns.js';
import type { Context } from './context.js';
import type { Queryable } from './driver.js';
import { ALWAYS, executionValues, insertExecution, insertMessages, messageValues } from './insert-rows.js';
import { readItem } from './order-rows.js';
import { NOTIFY_QUEUE } from './queue.js';
import { replaceRun } from './submit-order.js';

/** Takes the decisions of people in. */
export function createResolveItem({ database, queue }: Context): Pick<OrderStore, 'resolveItem'> {
  return {
    resolveItem: (decided) =>
      database.transaction(async (transaction): Promise<ResolveOutcome> => {
        const found = await findOpen(transaction, decided.id);
        if ('status' in found) return found;
        const order = await retryOrder(transaction, decided);
        const { execution, outbox, now } = decided;
        const resolution: Resolution =
          order === undefined ? decided.resolution : { ...decided.resolution, new_run_id: order.order.run_id };
        await closeItems(transaction, found, decided, resolution, order);
        await transaction.query(insertExecution(1, ALWAYS), executionValues(execution));
        await transaction.query(insertMessages(1, ALWAYS), messageValues(outbox, now));
        const item = { ...found, resolution };
        if (order === undefined) return { status: 'resolved', item };
        await queue.announce(transaction, {
          kind: 'order',
          issue_ref: order.order.issue_ref,
          run_id: order.order.run_id,
        });
        return { status: 'resolved', item, order };
      }),
  };
}

/** The item if it may still be decided. Its issue is locked first, as everywhere, then the item is read. */
async function findOpen(transaction: Queryable, id: string): Promise<InboxItem | ResolveOutcome> {
  const { rows: issues } = await transaction.query(
    `SELECT active_run_id FROM sluice.issues
     WHERE issue_ref = (SELECT issue_ref FROM sluice.inbox WHERE id = $1)
     FOR UPDATE`,
    [id],
  );
  const { rows: items } = await transaction.query(`SELECT * FROM sluice.inbox WHERE id = $1`, [id]);
  if (items[0] === undefined) return { status: 'not_found' };
  const item = readItem(items[0]);
  const activeRunId = issues[0] === undefined ? null : columnsOf(issues[0]).textOrNull('active_run_id');
  if (item.resolution !== null || activeRunId !== item.run_id) {
    return { status: 'conflict', activeRunId, resolution: item.resolution };
  }
  return item;
}

async function retryOrder(
  transaction: Queryable,
  { retry, now, state }: ItemResolution,
): Promise<OrderRecord | undefined> {
  if (retry === undefined) return undefined;
  return replaceRun(transaction, { ...retry, now }, state);
}

/** A new run closes all that was asked about the old one; any other decision leaves other questions open. */
async function closeItems(
  transaction: Queryable,
  { id, issue_ref: issueRef }: InboxItem,
  { state, now }: ItemResolution,
  resolution: Resolution,
  order: OrderRecord | undefined,
): Promise<void> {
  await transaction.query(
    `UPDATE sluice.inbox SET resolution = $3 WHERE resolution IS NULL AND issue_ref = $2 AND ($4 OR id = $1)`,
    [id, issueRef, JSON.stringify(resolution), order !== undefined],
  );
  if (order !== undefined) return;
  await transaction.query(
    `UPDATE sluice.issues SET
       updated_at = $3,
       state = CASE
         WHEN EXISTS (SELECT FROM sluice.inbox WHERE issue_ref = $1 AND resolution IS NULL) THEN 'needs-human' ELSE $2
       END
     WHERE issue_ref = $1
     RETURNING ${NOTIFY_QUEUE}`,
    [issueRef, state, now],
  );
}
