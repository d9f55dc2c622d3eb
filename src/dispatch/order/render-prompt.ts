import { join } from 'node:path';
import type { WorkOrder } from '../../records/index.js';
import type { PackFile } from './context-pack.js';

/** What an agent is told: its order, where its files are, and how to report. */
export function renderPrompt(order: WorkOrder, runDir: string, pack: readonly PackFile[]): string {
  const files = pack.map(({ path }) => `- ${join(runDir, path)}`).join('\n');
  return `You do the work of one work order, in the role ${order.role}, in the repository ${order.repo_dir}.

Issue: ${order.issue_ref}
Run: ${order.run_id}
${order.instructions === '' ? '' : `\n## Instructions\n\n${order.instructions}\n`}
## Files of the order

${files}

Read them before you begin and keep to the constraints, if there are any.

## Report

Your report is one JSON object, the work result. Its issue_ref is ${JSON.stringify(order.issue_ref)} and its run_id is ${JSON.stringify(order.run_id)}.
- status is ok if the work is done, fail if it could not be done, blocked if somebody else must do something first.
- ok and fail need the pull request or the commit you made in changes, and tests: the command you ran and its result (pass, fail or n/a), or "n/a" if there are none.
- Report only what is there: commits are looked up, and a report that says more than was done is refused.

Write it to ${join(runDir, 'work_result.json')} as your last step. Your last message ends with the same object; it counts where the file cannot be written.`;
}
