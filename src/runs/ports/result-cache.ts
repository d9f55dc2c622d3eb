import type { RunResult } from '../../records/index.js';

/** Results of whole successes that changed no files, by key. */
export interface ResultCache {
  /** Undefined for a miss; an entry that cannot be read is a miss. */
  find(key: string): Promise<CachedResult | undefined>;
  keep(key: string, entry: CachedResult): Promise<void>;
}

/** A result that was kept, with the run it came from. */
export interface CachedResult {
  /** The run that earned the result. */
  readonly run_id: string;
  readonly result: RunResult;
  readonly kept_at: string;
}
