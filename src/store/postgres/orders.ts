import type { OrderStore } from '../../orders/index.js';
import type { Context } from './context.js';
import { createOrderLists } from './order-lists.js';
import { createResolveItem } from './resolve-item.js';
import { createSettleOrder } from './settle-order.js';
import { createSubmitOrder } from './submit-order.js';

/** Issues, orders, the inbox and the executions. */
export function createOrders(context: Context, searchWindow: number): OrderStore {
  return {
    ...createSubmitOrder(context),
    ...createSettleOrder(context),
    ...createResolveItem(context),
    ...createOrderLists(context, searchWindow),
  };
}
