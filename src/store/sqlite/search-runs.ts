import type { Listed } from '../../orders/index.js';
import { nextFloor } from '../run-search.js';
import type { RunSearch } from '../run-search.js';
import { toSearched } from '../search-page.js';
import type { Database } from './database.js';
import type { SqlRow } from './driver.js';
import { readInteger } from './row-reader.js';

/** Where the part of the list ends that a page looks at. */
export const FIND_FLOOR = `
  SELECT sequence, created_at FROM run_digests WHERE sequence < ? ORDER BY sequence DESC LIMIT 1 OFFSET ?`;

/** Only the digests are looked through; the join is written so that the runs are read last. */
export const SEARCH_RUNS = `
  SELECT runs.* FROM run_digests AS digest CROSS JOIN run_records AS runs ON runs.sequence = digest.sequence
  WHERE digest.sequence < ?1 AND digest.sequence >= ?2
    AND (?3 IS NULL OR digest.engine = ?3)
    AND (?4 IS NULL OR digest.outcome = ?4)
    AND (?5 IS NULL OR digest.repair_level = ?5)
    AND digest.created_at >= ?6 AND digest.created_at < ?7
    AND NOT EXISTS (SELECT 1 FROM json_each(?8) AS word WHERE instr(digest.words, word.value) = 0)
    AND (?9 IS NULL OR runs.state = ?9)
  ORDER BY digest.sequence DESC LIMIT ?10`;

/** One page of the runs that are searched for. */
export async function searchRuns<T>(
  database: Database,
  search: RunSearch,
  window: number,
  read: (row: SqlRow) => T,
): Promise<Listed<T>> {
  const { before, engine, outcome, repairLevel, since, until, words, state, page } = search;
  return database.read(() => {
    const last = database.prepare(FIND_FLOOR).get(before, window - 1);
    const floor =
      last === undefined
        ? undefined
        : { sequence: readInteger(last, 'sequence'), createdAt: readInteger(last, 'created_at') };
    const filters = [engine, outcome, repairLevel, since, until, JSON.stringify(words), state] as const;
    const rows = database.prepare(SEARCH_RUNS).all(before, floor?.sequence ?? 0, ...filters, page.size + 1);
    return toSearched(rows, page, nextFloor(search, floor), read, (row) => readInteger(row, 'sequence'));
  });
}
