import type { OrderStore } from '../../orders/index.js';
import type { Wakers } from '../wakers.js';
import type { Database } from './database.js';
import { createOrderLists } from './order-lists.js';
import { createResolveItem } from './resolve-item.js';
import { createSettleOrder } from './settle-order.js';
import { createSubmitOrder } from './submit-order.js';

/** Issues, orders, the inbox and the executions. */
export function createOrders(database: Database, wakers: Wakers, searchWindow: number): OrderStore {
  return {
    ...createSubmitOrder(database, wakers),
    ...createSettleOrder(database, wakers),
    ...createResolveItem(database, wakers),
    ...createOrderLists(database, searchWindow),
  };
}
