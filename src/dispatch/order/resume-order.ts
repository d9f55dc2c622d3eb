import { getErrorMessage } from '../../base/index.js';
import { findWrapper } from '../../orders/index.js';
import type { RunRecord } from '../../records/index.js';
import { getRunFolderPath } from '../../run-folder/index.js';
import { retryStore } from '../retry-store.js';
import { isDetached, runToEnd } from '../run-to-end.js';
import type { WorkContext } from '../worker-options.js';
import { chooseWorktree } from './execute-order.js';
import type { OrderExecution } from './execute-order.js';
import { EXIT_UNKNOWN, finishOrder, settleOrder } from './finish-order.js';
import { injectOrder } from './inject-order.js';
import type { RepositoryStart } from './proof/repository.js';

/** Resumes an order that is waiting for a human and whose worker is gone, after its claim was taken over. */
export async function resumeOrder(
  context: WorkContext,
  { id, spec, state: resumedFrom, order: name }: RunRecord,
  { workerId, claim, executeCheck }: OrderExecution,
): Promise<void> {
  const { store, lead, runs } = context;
  const record = await retryStore(
    async () => (name === null ? undefined : store.findOrder(name.issue_ref, name.run_id)),
    context,
  );
  const stored = await retryStore(async () => store.findRepositoryStart(id), context);
  if (record === undefined || stored === undefined) return;
  const start = JSON.parse(stored) as RepositoryStart | { readonly why: string };
  const { order } = record;
  const worktree = await chooseWorktree(context, record);
  let env: Readonly<Record<string, string>>;
  try {
    const wrapper = findWrapper(order.worker, lead.wrappers);
    ({ env } = injectOrder(wrapper, order, getRunFolderPath(runs.data, id), worktree?.folder));
  } catch (error) {
    // The configuration has changed since: a human decides.
    return settleOrder(context, order, { ...EXIT_UNKNOWN, startError: getErrorMessage(error) });
  }
  const run = { id, workerId, spec, env, lock: undefined, resumedFrom, mayDetach: true };
  const result = await runToEnd(context, run, claim);
  if (!isDetached(result)) await finishOrder(context, { record, worktree, start }, result, { claim, executeCheck });
}
