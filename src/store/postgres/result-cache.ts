import type { CacheLimits, CachedResult, ResultCache } from '../../runs/index.js';
import { readColumns } from './rows.js';
import type { Context } from './context.js';

/** Creates the store's result cache methods; the oldest results are deleted first. */
export function createResultCache({ database }: Context, limits: Required<CacheLimits>): ResultCache {
  return {
    async find(key) {
      const { rows } = await database.query(`SELECT entry FROM sluice.results WHERE key = $1`, [key]);
      if (rows[0] === undefined) return undefined;
      try {
        return JSON.parse(readColumns(rows[0]).text('entry')) as CachedResult;
      } catch {
        return undefined;
      }
    },

    async cacheResult(key, entry) {
      const text = JSON.stringify(entry);
      const size = Buffer.byteLength(text);
      await database.transaction(async (transaction) => {
        if (size > limits.bytes) {
          // Too large to be cached, but the previous entry is out of date.
          await transaction.query(`DELETE FROM sluice.results WHERE key = $1`, [key]);
          return;
        }
        await transaction.query(
          `INSERT INTO sluice.results (key, bytes, entry, kept_at) VALUES ($1, $2, $3, $4)
           ON CONFLICT (key) DO UPDATE SET
             bytes = EXCLUDED.bytes, entry = EXCLUDED.entry, kept_at = EXCLUDED.kept_at, seq = DEFAULT`,
          [key, size, text, Date.parse(entry.kept_at) || 0],
        );
        await transaction.query(
          `DELETE FROM sluice.results WHERE seq IN (
             SELECT seq FROM (
               SELECT seq, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
               FROM sluice.results WINDOW newest AS (ORDER BY seq DESC)
             ) AS kept
             WHERE place > $1 OR total > $2
           )`,
          [limits.entries, limits.bytes],
        );
      });
    },
  };
}
