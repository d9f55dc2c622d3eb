import type { OrderStore } from '../../orders/index.js';
import type { Wakers } from '../wakers.js';
import { createClaimOrder } from './claim-order.js';
import type { Database } from './database.js';
import { createHoldOrder } from './hold-order.js';
import { createOrderLists } from './order-lists.js';
import { createResolveItem } from './resolve-item.js';
import { createSettleOrder } from './settle-order.js';
import { createSubmitOrder } from './submit-order.js';

/** Issues, orders, the inbox and the audit. */
export function createOrders(database: Database, wakers: Wakers, searchWindow: number): OrderStore {
  return {
    ...createSubmitOrder(database, wakers),
    ...createClaimOrder(database),
    ...createHoldOrder(database, wakers),
    ...createSettleOrder(database, wakers),
    ...createResolveItem(database, wakers),
    ...createOrderLists(database, searchWindow),
  };
}
