import { NO_CHANGES } from './merge-fs-diffs.js';
import type { RunResult } from '../../records/index.js';

/** The result of a run that could not be done, or of which nothing could be kept. */
export function failedResult(code: string, message: string): RunResult {
  return {
    status: 'failed',
    repair_level: 'none',
    warnings: [],
    error: { category: 'process', code, message },
    artifacts: NO_CHANGES,
    attempts: 0,
    session_id: null,
  };
}
