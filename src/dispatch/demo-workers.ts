import { fileURLToPath } from 'node:url';
import type { Wrappers } from '../orders/wrappers/read-wrappers.js';

/** The workers of the demo, in the order they get their orders. */
export const DEMO_WORKERS = ['json-worker', 'text-worker', 'print-only-worker'] as const;

/** How they are started. */
export function demoWrappers(): Wrappers {
  return {
    'json-worker': { type: 'script', command: [...commandOf('json-worker'), '{work_order}'], inject: 'args' },
    'text-worker': { type: 'script', command: commandOf('text-worker'), inject: 'env' },
    'print-only-worker': { type: 'script', command: commandOf('print-only-worker'), inject: 'env' },
  };
}

/** The programs lie in `examples/` of the package, at the same place seen from the source and from the build. */
function commandOf(worker: string): readonly [string, string] {
  return [process.execPath, fileURLToPath(new URL(`../../examples/workers/${worker}.mjs`, import.meta.url))];
}
