import type { OrderStore } from '../../orders/index.js';
import { createClaimOrder } from './claim-order.js';
import type { Context } from './context.js';
import { createHoldOrder } from './hold-order.js';
import { createOrderLists } from './order-lists.js';
import { createResolveItem } from './resolve-item.js';
import { createSettleOrder } from './settle-order.js';
import { createSubmitOrder } from './submit-order.js';

/** Issues, orders, the inbox and the audit. */
export function createOrders(context: Context, searchWindow: number): OrderStore {
  return {
    ...createSubmitOrder(context),
    ...createClaimOrder(context),
    ...createHoldOrder(context),
    ...createSettleOrder(context),
    ...createResolveItem(context),
    ...createOrderLists(context, searchWindow),
  };
}
