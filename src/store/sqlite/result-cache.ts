import type { CacheLimits, CachedResult, ResultCache } from '../../runs/index.js';
import type { Database } from './database.js';
import { readInteger, readJson } from './rows.js';

/** Creates the store's result cache methods; the oldest results are deleted first. */
export function createResultCache(database: Database, limits: Required<CacheLimits>): ResultCache {
  const findEntry = database.prepare('SELECT entry FROM results WHERE key = ?');
  const deleteResult = database.prepare('DELETE FROM results WHERE key = ?');
  const insert = database.prepare('INSERT INTO results (key, entry, bytes, kept_at) VALUES (?, ?, ?, ?)');
  const measure = database.prepare('SELECT count(*) AS entries, coalesce(sum(bytes), 0) AS bytes FROM results');
  const deleteOldest = database.prepare(`
    DELETE FROM results WHERE sequence = (SELECT min(sequence) FROM results) RETURNING bytes`);
  return {
    async find(key) {
      const row = await database.read(() => findEntry.get(key));
      if (row === undefined) return undefined;
      try {
        return readJson(row, 'entry') as CachedResult;
      } catch {
        // An unreadable entry is a miss; the next result replaces it.
        return undefined;
      }
    },

    async cacheResult(key, entry) {
      const text = JSON.stringify(entry);
      const size = Buffer.byteLength(text);
      await database.write(() => {
        deleteResult.run(key);
        if (size > limits.bytes) return;
        insert.run(key, text, size, Date.parse(entry.kept_at) || 0);
        const total = measure.get() ?? {};
        let [entries, bytes] = [readInteger(total, 'entries'), readInteger(total, 'bytes')];
        while (entries > limits.entries || bytes > limits.bytes) {
          entries -= 1;
          bytes -= readInteger(deleteOldest.get() ?? {}, 'bytes');
        }
      });
    },
  };
}
