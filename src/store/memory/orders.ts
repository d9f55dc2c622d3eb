import type { OrderStore } from '../../orders/index.js';
import { createClaimOrder } from './claim-order.js';
import { createHoldOrder } from './hold-order.js';
import { createOrderLists } from './order-lists.js';
import { createResolveItem } from './resolve-item.js';
import { createSettleOrder } from './settle-order.js';
import { createSubmitOrder } from './submit-order.js';
import type { Tables } from './tables.js';

/** Issues, orders, the inbox and the audit. */
export function createOrders(tables: Tables, searchWindow: number): OrderStore {
  return {
    ...createSubmitOrder(tables),
    ...createClaimOrder(tables),
    ...createHoldOrder(tables),
    ...createSettleOrder(tables),
    ...createResolveItem(tables),
    ...createOrderLists(tables, searchWindow),
  };
}
