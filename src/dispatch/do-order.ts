import type { ClaimedOrder, OrderRun, Settlement, StartOrderRun } from '../orders/index.js';
import { startRun } from '../runs/index.js';
import { attendRun } from './attend-run.js';
import type { WorkContext } from './work-context.js';

/** Does a claimed order; its run is listed and told live as any other. */
export async function doOrder(
  context: WorkContext,
  claimed: ClaimedOrder,
  workerId: string,
): Promise<Settlement | undefined> {
  const { store, lead, leaseMs, clock, logger, signal } = context;
  const start: StartOrderRun = async ({ id, spec, env, record }): Promise<OrderRun> => {
    const { issue_ref, run_id } = record.order;
    const order = { issue_ref, run_id };
    await store.createRun({ id, spec, state: 'running', order, workerId, leaseMs, now: clock() });
    const environment = { ...(context.runs.environment ?? process.env), ...env };
    const ports = { ...context.runs, eventLog: store, cache: store, newId: () => id, environment };
    const run = startRun(spec, ports);
    const isInteractive = spec.mode === 'interactive';
    const attended = attendRun({ run, isInteractive, workerId, leaseMs, store, clock, logger, signal });
    // The order is settled on the result itself: a store that does not take the run's end must not lose it.
    const result = attended.catch(async () => run.result);
    return { result, cancel: async () => run.cancel() };
  };
  return lead.execute(claimed, { workerId, leaseMs, startRun: start, signal });
}
