import type { WorkRequest } from '../orders/work-order.js';

/** The request of a new run: without the id of the old one, whose repeat must still give the old order. */
export function retryRequest({ request_id: _, ...request }: WorkRequest): WorkRequest {
  return request;
}
