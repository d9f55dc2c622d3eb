import type { OrderStore } from '../../orders/index.js';
import { createOrderLists } from './order-lists.js';
import { createResolveItem } from './resolve-item.js';
import { createSettleOrder } from './settle-order.js';
import { createSubmitOrder } from './submit-order.js';
import type { Tables } from './tables.js';

/** Issues, orders, the inbox and the executions. */
export function createOrders(tables: Tables, searchWindow: number): OrderStore {
  return {
    ...createSubmitOrder(tables),
    ...createSettleOrder(tables),
    ...createResolveItem(tables),
    ...createOrderLists(tables, searchWindow),
  };
}
