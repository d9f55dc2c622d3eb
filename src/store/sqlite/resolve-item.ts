import type { InboxItem, Resolution } from '../../records/index.js';
import type { ItemResolution, OrderStore, ResolveOutcome } from '../../orders/index.js';
import { QUEUE, type Wakers } from '../wakers.js';
import type { Database } from './database.js';
import type { SqlRow } from './driver.js';
import { readJson, readJsonOrNull, readTextOrNull } from './row-reader.js';
import { createDecisionRows } from './settle-order.js';
import { createReplaceRun } from './submit-order.js';

/** A row of `inbox` as the item it stands for. */
export function readItem(row: SqlRow): InboxItem {
  return {
    ...(readJson(row, 'item') as InboxItem),
    resolution: readJsonOrNull(row, 'resolution') as InboxItem['resolution'],
  };
}

/** Takes the decisions of people in. */
export function createResolveItem(database: Database, wakers: Wakers): Pick<OrderStore, 'resolveItem'> {
  const findItem = database.prepare('SELECT * FROM inbox WHERE id = ?');
  const findActive = database.prepare('SELECT active_run_id FROM issues WHERE issue_ref = ?');
  const resolveOne = database.prepare('UPDATE inbox SET resolution = ? WHERE id = ?');
  const resolveOpen = database.prepare('UPDATE inbox SET resolution = ? WHERE issue_ref = ? AND resolution IS NULL');
  const move = database.prepare(`
    UPDATE issues SET updated_at = ?, state = CASE
      WHEN EXISTS (SELECT 1 FROM inbox WHERE inbox.issue_ref = issues.issue_ref AND resolution IS NULL)
      THEN 'needs-human' ELSE ? END
    WHERE issue_ref = ?`);
  const replaceRun = createReplaceRun(database, wakers);
  const rows = createDecisionRows(database);

  function resolve({ id, now, resolution, state, execution, outbox, retry }: ItemResolution): ResolveOutcome {
    const row = findItem.get(id);
    if (row === undefined) return { status: 'not_found' };
    const item = readItem(row);
    const active = findActive.get(item.issue_ref);
    const activeRunId = active === undefined ? null : readTextOrNull(active, 'active_run_id');
    if (item.resolution !== null || activeRunId !== item.run_id) {
      return { status: 'conflict', activeRunId, resolution: item.resolution };
    }

    rows.addExecution(execution);
    for (const message of outbox) rows.addMessage(message, now);
    if (retry === undefined) {
      resolveOne.run(JSON.stringify(resolution), id);
      move.run(now, state, item.issue_ref);
      return { status: 'resolved', item: { ...item, resolution } };
    }
    const order = replaceRun({ ...retry, now }, state);
    const recorded: Resolution = { ...resolution, new_run_id: order.order.run_id };
    resolveOpen.run(JSON.stringify(recorded), item.issue_ref);
    return { status: 'resolved', item: { ...item, resolution: recorded }, order };
  }

  return {
    async resolveItem(resolution) {
      const outcome = await database.write(() => resolve(resolution));
      wakers.wake(QUEUE);
      return outcome;
    },
  };
}
