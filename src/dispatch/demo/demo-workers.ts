import { fileURLToPath } from 'node:url';
import type { WorkRequest } from '../../records/index.js';
import type { Wrappers } from '../../orders/index.js';
import { hasDemoRepository } from './demo-repository.js';

/** The workers of the demo, in the order they get their orders. */
export const DEMO_WORKERS = ['json-worker', 'text-worker', 'print-only-worker'] as const;

/** How they are started. */
export function demoWrappers(): Wrappers {
  return {
    'json-worker': { type: 'script', command: [...getCommand('json-worker'), '{work_order}'], inject: 'args' },
    'text-worker': { type: 'script', command: getCommand('text-worker'), inject: 'env' },
    'print-only-worker': { type: 'script', command: getCommand('print-only-worker'), inject: 'env' },
  };
}

/**
 * The workers of the demo where one took place, none elsewhere: what waits for a person there can be retried, by whatever
 * command.
 */
export async function demoWrappersIn(data: string): Promise<Wrappers> {
  return (await hasDemoRepository(data)) ? demoWrappers() : {};
}

/** What each of them is asked to do. */
export function createDemoRequest(worker: string, issueRef: string, repoDir: string): WorkRequest {
  return { issue_ref: issueRef, role: 'demo', repo_dir: repoDir, worker, instructions: 'Greet the reader.' };
}

/** The programs lie in `examples/` of the package, at the same place seen from the source and from the build. */
function getCommand(worker: string): readonly [string, string] {
  return [process.execPath, fileURLToPath(new URL(`../../../examples/workers/${worker}.mjs`, import.meta.url))];
}
