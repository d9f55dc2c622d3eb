import type { CachedResult, ResultCache } from '../../runs/ports/result-cache.js';
import type { CacheLimits } from '../store-options.js';
import { checkOpen, type Tables } from './tables.js';

/** Kept results, as text; the map's own order is that of keeping. */
export function createResultCache(tables: Tables, limits: CacheLimits): ResultCache {
  const entries = new Map<string, string>();
  let bytes = 0;
  const forget = (key: string): void => {
    bytes -= Buffer.byteLength(entries.get(key) ?? '');
    entries.delete(key);
  };
  return {
    async find(key) {
      checkOpen(tables);
      const text = entries.get(key);
      return text === undefined ? undefined : (JSON.parse(text) as CachedResult);
    },

    async keep(key, entry) {
      checkOpen(tables);
      const text = JSON.stringify(entry);
      const size = Buffer.byteLength(text);
      forget(key);
      if (size > limits.bytes) return;
      entries.set(key, text);
      bytes += size;
      for (const oldest of entries.keys()) {
        if (entries.size <= limits.entries && bytes <= limits.bytes) break;
        forget(oldest);
      }
    },
  };
}
