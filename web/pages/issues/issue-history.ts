import type { InboxItem, OrderView, OutboxMessage } from '../../../src/api/index.js';
import type { Client } from '../../../src/client/index.js';
import { readTrigger } from '../../ui/read-trigger.js';

/** An order with its inbox items and comments. */
export interface OrderHistory {
  readonly runId: string;
  /** Null if the order is too old for the server to list. */
  readonly order: OrderView | null;
  readonly items: readonly InboxItem[];
  readonly comments: readonly OutboxMessage[];
}

/** The maximum number of settled inbox items and of comments. The executions list has all decisions. */
const MAX_LISTED = 200;

/** Loads an issue and its history: the open inbox items, the newest settled ones and the newest comments. */
export async function loadIssue(
  client: Pick<Client, 'getIssue' | 'listInbox' | 'listOutbox'>,
  issueRef: string,
  signal: AbortSignal,
) {
  const [issue, settled, outbox] = await Promise.all([
    client.getIssue({ ref: issueRef, signal }),
    client.listInbox({ query: { issue_ref: issueRef, settled: 'true', limit: MAX_LISTED }, signal }),
    client.listOutbox({ query: { issue_ref: issueRef, limit: MAX_LISTED }, signal }),
  ]);
  // An item can be settled between the two requests.
  const settledIds = new Set(settled.items.map(({ id }) => id));
  const open = issue.inbox.filter(({ id }) => !settledIds.has(id));
  return { ...issue, history: groupHistory(issue.orders, [...open, ...settled.items], outbox.items) };
}

/**
 * Groups inbox items and comments by the order they belong to. The newest order comes first; items and comments for
 * unlisted orders come last, by run.
 */
export function groupHistory(
  orders: readonly OrderView[],
  items: readonly InboxItem[],
  messages: readonly OutboxMessage[],
): readonly OrderHistory[] {
  const runByItem = new Map(items.map(({ id, run_id }) => [id, run_id]));
  const findRun = (message: OutboxMessage): string | undefined => {
    const trigger = readTrigger(message.trigger);
    return trigger.kind === 'run' ? trigger.runId : trigger.kind === 'item' ? runByItem.get(trigger.itemId) : undefined;
  };
  const itemsByRun = groupBy(items, ({ run_id }) => run_id);
  const commentsByRun = groupBy(messages, (message) => findRun(message) ?? NO_RUN);
  const listedRuns = orders.map(({ run_id }) => run_id);
  const unlistedRuns = [...new Set([...itemsByRun.keys(), ...commentsByRun.keys()])].filter(
    (runId) => !listedRuns.includes(runId),
  );
  const ordersByRun = new Map(orders.map((order) => [order.run_id, order]));
  return [...listedRuns, ...unlistedRuns.toSorted().toReversed()].map((runId) => ({
    runId,
    order: ordersByRun.get(runId) ?? null,
    items: itemsByRun.get(runId) ?? [],
    comments: commentsByRun.get(runId) ?? [],
  }));
}

/** The run id for comments that belong to no run. */
export const NO_RUN = '';

function groupBy<Item>(items: readonly Item[], getKey: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(getKey(item));
    if (group === undefined) groups.set(getKey(item), [item]);
    else group.push(item);
  }
  return groups;
}
