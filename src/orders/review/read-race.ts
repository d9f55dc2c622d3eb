import type { OrderRecord, Race } from '../../store/records/index.js';
import type { OrderStore } from '../../store/ports/index.js';
import { readChange } from '../git/read-change.js';
import type { ChangeContext } from '../git/read-change.js';

/** The number of an issue's newest orders to search for its race. */
const MAX_ORDERS = 100;

/**
 * Reads the changes of all runs of an issue's last race; without a race, the change of its newest order. Undefined if the issue
 * has no order.
 *
 * @example
 * const { winner, runs } = await readRace({ store, data, maskText }, 'acme/shop#12')
 */
export async function readRace(
  context: ChangeContext & { readonly store: Pick<OrderStore, 'findIssue' | 'listOrders' | 'listInbox'> },
  issueRef: string,
): Promise<Race | undefined> {
  const { store } = context;
  const [issue, orders, inbox] = await Promise.all([
    store.findIssue(issueRef),
    store.listOrders({ issueRef, limit: MAX_ORDERS }),
    store.listInbox({ issueRef, open: true, limit: MAX_ORDERS }),
  ]);
  const [newest] = orders.items;
  if (issue === undefined || newest === undefined) return undefined;
  const group = findGroup(issue.active_group, issue.active_run_id, orders.items) ?? null;
  const members = group === null ? [newest] : orders.items.filter((record) => record.group === group).toReversed();
  const runs: Race['runs'][number][] = [];
  // In sequence, because a change can be several megabytes.
  for (const record of members) {
    const { order, state, decision } = record;
    const { run_id, worker } = order;
    const inbox_id = inbox.items.find((item) => item.run_id === run_id)?.id ?? null;
    runs.push({ run_id, worker, state, decision, inbox_id, change: await readChange(context, record) });
  }
  const isDecided = members.some(({ order }) => order.run_id === issue.active_run_id);
  return { issue_ref: issueRef, group, winner: isDecided ? issue.active_run_id : null, runs };
}

/** Finds the undecided race of an issue, or the race of its active run. */
function findGroup(
  activeGroup: string | undefined,
  activeRunId: string | null,
  orders: readonly OrderRecord[],
): string | undefined {
  return activeGroup ?? orders.find(({ order }) => order.run_id === activeRunId)?.group;
}
