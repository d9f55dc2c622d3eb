import { createHash } from 'node:crypto';
import type { RunResult } from '../records/index.js';

/** Results of successful runs, by key. */
export interface ResultCache {
  /** Returns undefined for a miss; an unreadable entry counts as a miss. */
  find(key: string): Promise<CachedResult | undefined>;
  cacheResult(key: string, entry: CachedResult): Promise<void>;
}

/** A cached result, with the run it came from. */
export interface CachedResult {
  readonly run_id: string;
  readonly result: RunResult;
  readonly cached_at: string;
  /** The files that the run wrote; their content is in the data folder, by hash. */
  readonly files?: readonly CachedFile[];
}

/** A file of a cached result. */
export interface CachedFile {
  readonly path: string;
  readonly change: 'created' | 'modified';
  readonly sha256: string;
  readonly executable: boolean;
}

/** Result cache limits. An entry larger than the cache is not stored. */
export interface CacheLimits {
  readonly entries?: number;
  /** The total size of all entries, as text. */
  readonly bytes?: number;
}

/** The default limits: a thousand typical results. */
export const CACHE_LIMITS: Readonly<Required<CacheLimits>> = { entries: 1000, bytes: 64 * 1024 * 1024 };

/** Formats an entry as text, with a hash that detects damage. */
export function formatCacheEntry(key: string, entry: CachedResult): string {
  const text = JSON.stringify(entry);
  return `${JSON.stringify({ key, sha256: hashText(text) })}\n${text}\n`;
}

/** Parses an entry; undefined if it is damaged, belongs to another key, or is not a result. */
export function parseCacheEntry(key: string, text: string): CachedResult | undefined {
  const [head = '', body = ''] = text.split('\n');
  try {
    const { key: storedKey, sha256 } = JSON.parse(head) as Record<string, unknown>;
    if (storedKey !== key || sha256 !== hashText(body)) return undefined;
    const entry = JSON.parse(body) as Partial<CachedResult> | null;
    const isValid = typeof entry?.run_id === 'string' && entry.result?.status === 'success';
    return isValid ? (entry as CachedResult) : undefined;
  } catch {
    return undefined;
  }
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
