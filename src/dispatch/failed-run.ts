import type { RunResult } from '../runs/run-result.js';

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
