import type { OrderHold } from '../ports/order-store.js';
import type { LeadContext } from './lead-context.js';

/** A claim that is to be kept alive. */
interface Hold {
  readonly context: Pick<LeadContext, 'store' | 'clock' | 'logger'>;
  readonly hold: Omit<OrderHold, 'now'>;
  readonly leaseMs: number;
  /** The worker has no more time. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Renews an order's lease three times per lease until `end`. `stop` is aborted when its worker must stop: the order was
 * replaced or taken over, or the caller's signal says so. A store that does not answer is asked again; after two leases
 * without an answer the order counts as lost.
 */
export function watchHold({ context, hold, leaseMs, signal }: Hold): {
  readonly stop: AbortSignal;
  end(): Promise<void>;
} {
  const { store, clock, logger } = context;
  const lost = new AbortController();
  let lastHeld = clock();
  let renewal = Promise.resolve();

  const renew = async () => {
    try {
      const state = await store.renewOrder({ ...hold, leaseMs, now: clock() });
      if (state === 'held') lastHeld = clock();
      else lost.abort();
    } catch (error) {
      logger.warn('order could not be renewed', { ...hold, error: String(error) });
      if (clock() - lastHeld > 2 * leaseMs) lost.abort();
    }
  };
  const timer = setInterval(
    () => {
      renewal = renewal.then(renew);
    },
    Math.max(10, leaseMs / 3),
  );
  // By hand: combined signals of one that lives as long as the worker would pile up.
  const stop = () => lost.abort();
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  return {
    stop: lost.signal,
    async end() {
      clearInterval(timer);
      signal?.removeEventListener('abort', stop);
      await renewal;
    },
  };
}
