import { getErrorMessage } from '../../../base/index.js';
import { findRepo, getRepositoryFolder } from '../../repos/repos.js';
import type { Evidence, OrderRecord, Reading } from '../../../store/records/index.js';
import { findPointer } from '../../git/git-lfs.js';
import type { Worktree } from '../../git/worktree.js';
import type { WorkContext } from '../worker-options.js';
import { fetchMirror, pushCommit } from '../../git/mirror.js';

/** An order and its repository's folder on this host. */
export interface LocatedOrder {
  readonly record: OrderRecord;
  /** Why its repository could not be fetched. */
  readonly startError?: string;
}

/** Fetches an order's repository to this host, if the order names it by its URL. */
export async function fetchOrderRepository(
  { lead, runs, signal }: WorkContext,
  record: OrderRecord,
): Promise<LocatedOrder> {
  const { order } = record;
  if (order.repo === undefined) return { record };
  const located = { ...record, order: { ...order, repo_dir: getRepositoryFolder(runs.data, order) } };
  try {
    await fetchMirror(runs.data, findRepo(order.repo, lead.repos), { signal, maskText: lead.maskText });
    return { record: located };
  } catch (error) {
    return { record: located, startError: getErrorMessage(error) };
  }
}

/**
 * Pushes an order's confirmed commit to its repository, on the order's own branch, where it can be reviewed, and notes
 * where it is. A commit that could not be pushed needs a human, because only this host has it.
 */
export async function publishCommit(
  { lead, runs, signal }: WorkContext,
  { order }: OrderRecord,
  { branch }: Worktree,
  { reading, evidence }: { readonly reading: Reading; readonly evidence: readonly Evidence[] },
): Promise<{ readonly reading: Reading; readonly note?: string }> {
  const commit = reading.result?.changes.commit;
  const isConfirmed = evidence.some(({ claim, verdict }) => claim === 'commit' && verdict === 'confirmed');
  if (order.repo === undefined || commit === undefined || !isConfirmed) return { reading };
  const repo = lead.repos.find(({ url }) => url === order.repo);
  const localNote = `Its commit is only on the branch ${branch} of the mirror "${getRepositoryFolder(runs.data, order)}".`;
  if (repo?.push !== true) return { reading, note: localNote };
  try {
    await pushCommit(runs.data, repo, { commit, branch }, { signal, maskText: lead.maskText });
    const pointer = await findPointer(getRepositoryFolder(runs.data, order), commit);
    const missing =
      pointer === undefined
        ? ''
        : ` Files in Git LFS, such as "${pointer.slice(0, 200)}", were not pushed: upload them with git lfs push.`;
    return { reading, note: `Its commit is on the branch ${branch} of ${order.repo}.${missing}` };
  } catch (error) {
    const problem = { code: 'COMMIT_NOT_PUSHED', message: getErrorMessage(error), path: 'changes.commit' };
    return { reading: { ...reading, problems: [...reading.problems, problem] }, note: localNote };
  }
}
