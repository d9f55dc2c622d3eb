import { errorMessageOf } from '../../base/index.js';
import type { OrderRecord } from '../../records/index.js';
import { injectionOf } from '../wrappers/injection.js';
import type { Injection } from '../wrappers/injection.js';
import { wrapperOf } from '../wrappers/read-wrappers.js';
import type { LeadContext } from './lead-context.js';
import { writePackFiles } from './run-folder-files.js';
import { createWorktree } from './worktree.js';
import type { Worktree } from './worktree.js';

/** Everything that must be there before the worker starts; a message if something cannot be. */
export async function prepareOrder(
  context: LeadContext,
  { order, run }: OrderRecord,
  worktree: Worktree | undefined,
): Promise<Injection | { readonly startError: string }> {
  try {
    const runDir = context.runFolderOf(run);
    const wrapper = wrapperOf(order.worker, context.wrappers);
    const injection = injectionOf(wrapper, order, runDir, worktree?.folder ?? order.repo_dir);
    if (worktree !== undefined) {
      const { error } = await createWorktree(worktree);
      if (error !== undefined) return { startError: error };
    }
    await writePackFiles(runDir, injection.files);
    return injection;
  } catch (error) {
    return { startError: errorMessageOf(error) };
  }
}
