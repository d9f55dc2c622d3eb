import type { ClaimedOrder } from '../ports/order-store.js';
import { deadLetterOf } from './dead-letter.js';
import { deliverDue } from './deliver.js';
import type { DeliveryReport } from './deliver.js';
import { executeOrder } from './execute-order.js';
import type { ExecutionPorts } from './execute-order.js';
import { createLeadContext } from './lead-context.js';
import type { LeadOptions } from './lead-context.js';
import { LeadError } from './lead-error.js';
import { reconcile } from './reconcile.js';
import type { Reconciliation } from './reconcile.js';
import { resolveItem } from './resolve.js';
import type { Resolved, ResolveRequest } from './resolve.js';
import { settle } from './settle.js';
import type { OrderName, Settlement, WorkerEnd } from './settle.js';
import { submit } from './submit.js';
import type { SubmittedOrder } from './submit.js';
import { createStrandedTeller } from './tell-stranded.js';

/** Whoever delegates work: hands out orders, takes results in, asks people, tells the issues. */
export interface Lead {
  /** Checks a request, hands out its run id and makes it the active one. */
  submit(request: unknown): Promise<SubmittedOrder>;
  /** Does a claimed order from the run folder to the decision; undefined if the claim was lost before it started. */
  execute(claimed: ClaimedOrder, ports: ExecutionPorts): Promise<Settlement | undefined>;
  /** Takes a result in: read, decided and written in one transaction. A repeat returns the first decision. */
  settle(end: (OrderName | OrderNameOnTheWire) & WorkerEnd): Promise<Settlement>;
  /** Sends every comment that is due; once the signal is aborted, only what is already on its way. */
  deliver(options?: { readonly signal?: AbortSignal }): Promise<DeliveryReport>;
  /** Takes a person's decision in. */
  resolve(request: ResolveRequest): Promise<Resolved>;
  /** Puts in order what crashed leads left, then delivers what is due, as `deliver` does. */
  reconcile(options?: { readonly signal?: AbortSignal }): Promise<Reconciliation>;
  /** Waits for what is under way. Every later call fails with `LEAD_CLOSED`. The store stays open: it is the caller's. */
  close(): Promise<void>;
}

/** The same as {@link OrderName}, as it stands in files. */
export interface OrderNameOnTheWire {
  readonly issue_ref: string;
  readonly run_id: string;
}

/**
 * Makes a lead over a store.
 *
 * @example
 * const lead = createLead({ store, wrappers, sinks, data: '.sluice' })
 * const { order, run } = await lead.submit({ issue_ref: 'acme/shop#12', role: 'backend', repo_dir, worker: 'codex-cli', instructions })
 * const { decision } = await lead.settle({ issueRef: order.issue_ref, runId: order.run_id, exitCode: 0, stdout, stderr })
 * await lead.deliver()
 */
export function createLead(options: LeadOptions): Lead {
  const context = createLeadContext(options);
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;

  async function track<T>(work: () => Promise<T>): Promise<T> {
    if (isClosed) throw new LeadError('LEAD_CLOSED', 'The lead is closed: make another one.');
    const promise = work();
    underWay.add(promise);
    try {
      return await promise;
    } finally {
      underWay.delete(promise);
    }
  }
  const tellStranded = createStrandedTeller(context);
  const deliver = async (signal?: AbortSignal) => {
    const report = await deliverDue({
      ...context,
      signal,
      // A name of its own for every call: two calls side by side must not pass for one another.
      workerId: `${context.leadId}/${context.newId()}`,
      itemOf: async (message, error) => deadLetterOf(context, message, error),
    });
    await tellStranded();
    return report;
  };

  return {
    submit: async (request) => track(async () => submit(context, request)),
    execute: async (claimed, ports) => track(async () => executeOrder(context, claimed, ports)),
    settle: async (end) => track(async () => settle(context, { ...end, ...nameOf(end) })),
    deliver: async (how) => track(async () => deliver(how?.signal)),
    resolve: async (request) => track(async () => resolveItem(context, request)),
    reconcile: async (how) =>
      track(async () => {
        const report = await reconcile(context);
        await deliver(how?.signal);
        return report;
      }),
    async close() {
      isClosed = true;
      await Promise.allSettled(underWay);
    },
  };
}

function nameOf(end: OrderName | OrderNameOnTheWire): OrderName {
  return 'issueRef' in end ? end : { issueRef: end.issue_ref, runId: end.run_id };
}
