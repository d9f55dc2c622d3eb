import type { CacheLimits, CachedResult, ResultCache } from '../../runs/index.js';
import { checkOpen, type Tables } from './tables.js';

/** Creates the store's result cache methods. Results are stored as JSON strings, in insertion order. */
export function createResultCache(tables: Tables, limits: Required<CacheLimits>): ResultCache {
  const { results } = tables;
  return {
    async find(key) {
      checkOpen(tables);
      const stored = results.get(key);
      return stored === undefined ? undefined : (JSON.parse(stored.text) as CachedResult);
    },

    async cacheResult(key, entry) {
      checkOpen(tables);
      const text = JSON.stringify(entry);
      const bytes = Buffer.byteLength(text);
      results.delete(key);
      if (bytes > limits.bytes) return;
      results.set(key, { text, bytes, keptAt: Date.parse(entry.kept_at) || 0 });
      let total = [...results.values()].reduce((sum, stored) => sum + stored.bytes, 0);
      for (const [oldest, stored] of results) {
        if (results.size <= limits.entries && total <= limits.bytes) break;
        results.delete(oldest);
        total -= stored.bytes;
      }
    },
  };
}
