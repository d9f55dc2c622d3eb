import { readCacheEntry, writeCacheEntry, CACHE_LIMITS } from './result-cache.js';
import type { ResultCache, CacheLimits } from './result-cache.js';

/**
 * Keeps results in memory; the one that was not asked for the longest is forgotten first.
 *
 * @example
 * const run = startRun({ ...spec, cache: true, input_files: [] }, { data, cache: createMemoryResultCache() })
 */
export function createMemoryResultCache(limits: CacheLimits = {}): ResultCache {
  const most = { ...CACHE_LIMITS, ...limits };
  // As text, so that nobody changes a kept result by changing the one he was given.
  const entries = new Map<string, { readonly text: string; readonly size: number }>();
  let bytes = 0;

  function forget(key: string): void {
    bytes -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  }

  return {
    async find(key) {
      const kept = entries.get(key);
      if (kept === undefined) return undefined;
      entries.delete(key);
      entries.set(key, kept);
      return readCacheEntry(key, kept.text);
    },
    async keep(key, entry) {
      const text = writeCacheEntry(key, entry);
      const size = Buffer.byteLength(text);
      forget(key);
      if (size > most.bytes) return;
      entries.set(key, { text, size });
      bytes += size;
      for (const oldest of entries.keys()) {
        if (entries.size <= most.entries && bytes <= most.bytes) break;
        forget(oldest);
      }
    },
  };
}
