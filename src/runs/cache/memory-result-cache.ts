import type { ResultCache } from '../ports/result-cache.js';
import { readCacheEntry, writeCacheEntry } from './cache-entry.js';
import { CACHE_LIMITS } from './cache-limits.js';
import type { CacheLimits } from './cache-limits.js';

/**
 * Keeps results in memory; the one that was not asked for the longest is forgotten first.
 *
 * @example
 * const run = startRun({ ...spec, cache: true, input_files: [] }, { data, cache: createMemoryResultCache() })
 */
export function createMemoryResultCache(limits: CacheLimits = {}): ResultCache {
  const most = { ...CACHE_LIMITS, ...limits };
  // As text, so that nobody changes a kept result by changing the one he was given.
  const entries = new Map<string, string>();
  let bytes = 0;

  function forget(key: string): void {
    bytes -= entries.get(key)?.length ?? 0;
    entries.delete(key);
  }

  return {
    async find(key) {
      const text = entries.get(key);
      if (text === undefined) return undefined;
      entries.delete(key);
      entries.set(key, text);
      return readCacheEntry(key, text);
    },
    async keep(key, entry) {
      const text = writeCacheEntry(key, entry);
      forget(key);
      if (text.length > most.bytes) return;
      entries.set(key, text);
      bytes += text.length;
      for (const oldest of entries.keys()) {
        if (entries.size <= most.entries && bytes <= most.bytes) break;
        forget(oldest);
      }
    },
  };
}
