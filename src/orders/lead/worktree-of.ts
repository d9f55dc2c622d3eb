import { join } from 'node:path';
import type { WorkOrder } from '../../records/index.js';
import type { Worktree } from './worktree.js';

/** Where an order that asks for a worktree has it; undefined for those that work in the repository itself. */
export function worktreeOf(data: string, order: WorkOrder, run: string): Worktree | undefined {
  if (order.isolation !== 'worktree') return undefined;
  return {
    repoDir: order.repo_dir,
    folder: join(data, 'worktrees', run),
    branch: `sluice/${order.run_id}-${run}`,
  };
}
