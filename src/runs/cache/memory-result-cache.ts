import { parseCacheEntry, formatCacheEntry, CACHE_LIMITS } from './result-cache.js';
import type { ResultCache, CacheLimits } from './result-cache.js';

/**
 * Caches results in memory; the least recently used is evicted first.
 *
 * @example
 * const run = startRun({ ...spec, cache: true, input_files: [] }, { data, cache: createMemoryResultCache() })
 */
export function createMemoryResultCache(limits: CacheLimits = {}): ResultCache {
  const max = { ...CACHE_LIMITS, ...limits };
  // Stored as JSON, so a caller cannot mutate a cached result.
  const entries = new Map<string, { readonly text: string; readonly size: number }>();
  let bytes = 0;

  function evict(key: string): void {
    bytes -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  }

  return {
    async find(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return parseCacheEntry(key, entry.text);
    },
    async cacheResult(key, entry) {
      const text = formatCacheEntry(key, entry);
      const size = Buffer.byteLength(text);
      evict(key);
      if (size > max.bytes) return;
      entries.set(key, { text, size });
      bytes += size;
      for (const oldest of entries.keys()) {
        if (entries.size <= max.entries && bytes <= max.bytes) break;
        evict(oldest);
      }
    },
  };
}
