import type { FsDiff } from '../events/index.js';
import { NO_CHANGES } from './merge-fs-diffs.js';
import type { RunResult } from './run-result.js';

/** Knows what a folder looked like. */
export interface FolderWatch {
  /** What has changed since. */
  difference(): Promise<{ readonly fsDiff: FsDiff; readonly warnings: RunResult['warnings'] }>;
}

export async function watchFolder(_workdir: string, _data: string): Promise<FolderWatch> {
  return { difference: async () => ({ fsDiff: NO_CHANGES, warnings: [] }) };
}
