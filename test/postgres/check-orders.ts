import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { OrderRecord } from '../../src/store/records/index.js';
import type { Store } from '../../src/store/index.js';
import type { WorkerSite } from './worker-site.js';

/** Whether any order is not settled or any comment not delivered. */
export async function hasOpenWork(store: Store): Promise<boolean> {
  const lists = await Promise.all([
    store.listOrders({ open: true, limit: 1 }),
    store.listOutbox({ state: 'waiting', limit: 1 }),
    store.listOutbox({ state: 'sending', limit: 1 }),
  ]);
  return lists.some(({ items }) => items.length > 0);
}

export async function readOrders(store: Store): Promise<OrderRecord[]> {
  const orders: OrderRecord[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await store.listOrders({ limit: 1000, ...(cursor === undefined ? {} : { cursor }) });
    orders.push(...page.items);
    cursor = page.next_cursor;
  }
  return orders;
}

/** Lists violated invariants, as messages. Only orders whose worker was killed may need a human decision. */
export async function findViolations(
  site: WorkerSite,
  store: Store,
  orders: readonly OrderRecord[],
): Promise<string[]> {
  const effects = await site.readEffects();
  const commentFolder = join(site.data, 'comments');
  const commentFiles = await Promise.all(
    (await readdir(commentFolder))
      .filter((name) => name.endsWith('.md'))
      .map(async (name) => readFile(join(commentFolder, name), 'utf8')),
  );
  const triggers = commentFiles.flatMap((text) => text.match(/^Trigger: .*$/gm) ?? []);
  const violations: string[] = [];
  for (const { order, run, decision, state } of orders) {
    const { issue_ref: issueRef } = order;
    const executedTimes = effects.filter((line) => line === `${issueRef} ${order.run_id}`).length;
    const executions = (await store.listExecutions({ issueRef })).items.length;
    const issue = await store.findIssue(issueRef);
    if (state !== 'settled' || executions !== 1) violations.push(`${issueRef}: ${state}, ${executions} executions`);
    if (issue?.last_run_number !== 1) violations.push(`${issueRef}: ${issue?.last_run_number} runs`);
    if (executedTimes > 1) violations.push(`${issueRef}: executed ${executedTimes} times`);
    const expected = decision?.action === 'advance' ? 'review' : 'needs-human';
    if (issue?.state !== expected) violations.push(`${issueRef}: ${decision?.action} and ${issue?.state}`);
    if (decision?.action === 'needs-human' && (await store.findRun(run))?.result?.error?.code !== 'WORKER_GONE') {
      violations.push(`${issueRef}: passed to a human although its worker was not lost: ${decision.reason}`);
    }
    if (decision?.action === 'advance' && executedTimes !== 1) violations.push(`${issueRef}: advanced without effect`);
  }
  if (commentFiles.length !== orders.length || triggers.length !== orders.length) {
    violations.push(`${orders.length} orders, ${commentFiles.length} comment files, ${triggers.length} comments`);
  }
  return violations;
}
