import type { CachedResult, CacheLimits, ResultCache } from '../ports/index.js';
import type { Database } from '../driver.js';
import { readJson } from '../rows.js';

/** Creates the store's result cache methods; the oldest results are deleted first. */
export function createResultCache(database: Database, limits: Required<CacheLimits>): ResultCache {
  return {
    async find(key) {
      const row = await database.get('SELECT entry FROM results WHERE key = $1', [key]);
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
      await database.transaction(async (session) => {
        // Deleted even if the new entry is too large: it is out of date.
        await session.run('DELETE FROM results WHERE key = $1', [key]);
        if (size > limits.bytes) return;
        await session.run(INSERT, [key, size, Date.parse(entry.cached_at) || 0, text]);
        await session.run(DELETE_OLDEST, [limits.entries, limits.bytes]);
      });
    },
  };
}

/** The conflict: another process has cached the same result meanwhile. */
const INSERT = `
  INSERT INTO results (key, bytes, cached_at, entry) VALUES ($1, $2, $3, $4)
  ON CONFLICT (key) DO UPDATE SET bytes = excluded.bytes, cached_at = excluded.cached_at, entry = excluded.entry`;

const DELETE_OLDEST = `
  DELETE FROM results WHERE seq IN (
    SELECT seq FROM (
      SELECT seq, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
      FROM results WINDOW newest AS (ORDER BY seq DESC)) AS cached
    WHERE place > $1 OR total > $2)`;
