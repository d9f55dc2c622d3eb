import type { IssueRecord } from '../../records/index.js';
import type { Listed } from '../../orders/index.js';
import type { IssueSearch } from '../issue-search.js';
import { toSearched } from '../search-page.js';
import { columnsOf } from './columns.js';
import type { Queryable } from './driver.js';
import { readIssue } from './order-rows.js';

const FIND_ISSUE_FLOOR = `SELECT seq FROM sluice.issues WHERE seq < $1 ORDER BY seq DESC LIMIT 1 OFFSET $2`;

const SEARCH_ISSUES = `
  SELECT * FROM sluice.issues
  WHERE seq < $1 AND seq >= $2
    AND ($3::text IS NULL OR state = $3)
    AND NOT EXISTS (SELECT FROM unnest($4::text[]) AS word WHERE strpos(lower(issue_ref), word) = 0)
  ORDER BY seq DESC LIMIT $5`;

/** One page of the issues that are searched for. */
export async function searchIssues(
  database: Queryable,
  { page, before, state, words }: IssueSearch,
  window: number,
): Promise<Listed<IssueRecord>> {
  const { rows: lasts } = await database.query(FIND_ISSUE_FLOOR, [before, window - 1]);
  const floor = lasts[0] === undefined ? undefined : columnsOf(lasts[0]).number('seq');
  const { rows } = await database.query(SEARCH_ISSUES, [before, floor ?? 0, state, words, page.size + 1]);
  return toSearched(rows, page, floor, readIssue, (row) => columnsOf(row).number('seq'));
}
