import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { OrderRecord } from '../../src/records/index.js';
import type { Store } from '../../src/store/index.js';
import type { WorkerSite } from './worker-site.js';

/** Checks for orders that are not settled, and comments that are not delivered. */
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

/** Lists violated invariants, as messages. Only an order whose worker was killed may go to a person. */
export async function findViolations(
  site: WorkerSite,
  store: Store,
  orders: readonly OrderRecord[],
): Promise<string[]> {
  const effects = await site.readEffects();
  const comments = join(site.data, 'comments');
  const texts = await Promise.all(
    (await readdir(comments))
      .filter((name) => name.endsWith('.md'))
      .map(async (name) => readFile(join(comments, name), 'utf8')),
  );
  const markers = texts.flatMap((text) => text.match(/^Trigger: .*$/gm) ?? []);
  const violations: string[] = [];
  for (const { order, run, decision, state } of orders) {
    const { issue_ref: issueRef } = order;
    const times = effects.filter((line) => line === `${issueRef} ${order.run_id}`).length;
    const executions = (await store.listExecutions({ issueRef })).items.length;
    const issue = await store.findIssue(issueRef);
    if (state !== 'settled' || executions !== 1) violations.push(`${issueRef}: ${state}, ${executions} executions`);
    if (issue?.last_run_number !== 1) violations.push(`${issueRef}: ${issue?.last_run_number} runs`);
    if (times > 1) violations.push(`${issueRef}: done ${times} times`);
    const expected = decision?.action === 'advance' ? 'review' : 'needs-human';
    if (issue?.state !== expected) violations.push(`${issueRef}: ${decision?.action} and ${issue?.state}`);
    if (decision?.action === 'needs-human' && (await store.findRun(run))?.result?.error?.code !== 'WORKER_GONE') {
      violations.push(`${issueRef}: passed to a person although its worker was not lost: ${decision.reason}`);
    }
    if (decision?.action === 'advance' && times !== 1) violations.push(`${issueRef}: advanced without effect`);
  }
  if (texts.length !== orders.length || markers.length !== orders.length) {
    violations.push(`${orders.length} orders, ${texts.length} files of comments, ${markers.length} comments`);
  }
  return violations;
}
