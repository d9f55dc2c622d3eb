import type { OrderRecord } from '../ports/order-record.js';
import type { LeadContext } from './lead-context.js';

/** A claim that is kept alive while its worker runs. */
interface Hold {
  readonly context: LeadContext;
  readonly record: OrderRecord;
  readonly ports: { readonly workerId: string; readonly leaseMs: number; readonly signal?: AbortSignal };
  /** Called once: the order was replaced, taken over, or could not be renewed for too long. */
  readonly stop: () => void;
}

/**
 * Renews an order's lease three times per lease, and stops its worker when the order is not held any more. A store that
 * does not answer is asked again; after two leases without an answer the order counts as lost.
 */
export function watchHold({ context, record, ports, stop }: Hold): { end(): Promise<void> } {
  const { store, clock } = context;
  const { workerId, leaseMs, signal } = ports;
  const { issue_ref: issueRef, run_id: runId } = record.order;
  let isStopped = false;
  let lastHeld = clock();
  let renewal = Promise.resolve();

  const stopOnce = () => {
    if (isStopped) return;
    isStopped = true;
    stop();
  };
  const renew = async () => {
    try {
      const state = await store.renewOrder({ issueRef, runId, workerId, leaseMs, now: clock() });
      if (state === 'held') lastHeld = clock();
      else stopOnce();
    } catch {
      if (clock() - lastHeld > 2 * leaseMs) stopOnce();
    }
  };
  const timer = setInterval(
    () => {
      renewal = renewal.then(renew);
    },
    Math.max(10, leaseMs / 3),
  );
  if (signal?.aborted === true) stopOnce();
  signal?.addEventListener('abort', stopOnce, { once: true });
  return {
    async end() {
      clearInterval(timer);
      signal?.removeEventListener('abort', stopOnce);
      await renewal;
    },
  };
}
