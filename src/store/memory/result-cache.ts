import type { CacheLimits, CachedResult, ResultCache } from '../../runs/index.js';
import { checkOpen, type Tables } from './tables.js';

/** Cached results as text; the map keeps the order of insertion. */
export function createResultCache(tables: Tables, limits: Required<CacheLimits>): ResultCache {
  const { results } = tables;
  return {
    async find(key) {
      checkOpen(tables);
      const kept = results.get(key);
      return kept === undefined ? undefined : (JSON.parse(kept.text) as CachedResult);
    },

    async keep(key, entry) {
      checkOpen(tables);
      const text = JSON.stringify(entry);
      const bytes = Buffer.byteLength(text);
      results.delete(key);
      if (bytes > limits.bytes) return;
      results.set(key, { text, bytes, keptAt: Date.parse(entry.kept_at) || 0 });
      let total = [...results.values()].reduce((sum, kept) => sum + kept.bytes, 0);
      for (const [oldest, kept] of results) {
        if (results.size <= limits.entries && total <= limits.bytes) break;
        results.delete(oldest);
        total -= kept.bytes;
      }
    },
  };
}
