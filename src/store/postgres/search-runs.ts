import type { Listed } from '../../orders/index.js';
import { nextFloor } from '../run-search.js';
import type { RunSearch } from '../run-search.js';
import { toSearched } from '../search-page.js';
import { columnsOf } from './columns.js';
import type { Queryable, Row } from './driver.js';

/** Where the part of the list ends that a page looks at. */
const FIND_FLOOR = `
  SELECT seq, created_at FROM sluice.run_digests WHERE seq < $1 ORDER BY seq DESC LIMIT 1 OFFSET $2`;

/** Only the digests are looked through; of the runs, those that fit are read. */
const SEARCH_RUNS = `
  SELECT runs.* FROM sluice.run_digests AS digest JOIN sluice.run_records AS runs ON runs.seq = digest.seq
  WHERE digest.seq < $1 AND digest.seq >= $2
    AND ($3::text IS NULL OR digest.engine = $3)
    AND ($4::text IS NULL OR digest.outcome = $4)
    AND ($5::text IS NULL OR digest.repair_level = $5)
    AND digest.created_at >= $6 AND digest.created_at < $7
    AND NOT EXISTS (SELECT FROM unnest($8::text[]) AS word WHERE strpos(digest.words, word) = 0)
    AND ($9::text IS NULL OR runs.state = $9)
  ORDER BY digest.seq DESC LIMIT $10`;

/** One page of the runs that are searched for. */
export async function searchRuns<T>(
  database: Queryable,
  search: RunSearch,
  window: number,
  read: (row: Row) => T,
): Promise<Listed<T>> {
  const { before, engine, outcome, repairLevel, since, until, words, state, page } = search;
  const { rows: lasts } = await database.query(FIND_FLOOR, [before, window - 1]);
  const last = lasts[0] === undefined ? undefined : columnsOf(lasts[0]);
  const floor = last === undefined ? undefined : { sequence: last.number('seq'), createdAt: last.number('created_at') };
  const filters = [engine, outcome, repairLevel, since, until, words, state];
  const { rows } = await database.query(SEARCH_RUNS, [before, floor?.sequence ?? 0, ...filters, page.size + 1]);
  return toSearched(rows, page, nextFloor(search, floor), read, (row) => columnsOf(row).number('seq'));
}
