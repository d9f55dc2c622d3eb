import type { RunResult } from '../runs/result/run-result.js';

/** Why a worker could not do a run; beside the codes of errors that were thrown. */
export const LOST_RUN_CODES = ['WORKER_GONE', 'RUN_NOT_STARTED'] as const;

/** The result of a run that never came to do anything. */
export function failedRun(code: string, message: string): RunResult {
  return {
    status: 'failed',
    repair_level: 'none',
    warnings: [],
    error: { category: 'process', code, message },
    artifacts: { created: [], modified: [], deleted: [] },
    attempts: 0,
    session_id: null,
  };
}
