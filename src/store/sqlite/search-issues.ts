import type { IssueRecord } from '../../records/index.js';
import type { Listed } from '../../orders/index.js';
import type { IssueSearch } from '../issue-search.js';
import { toSearched } from '../search-page.js';
import type { Database } from './database.js';
import { readIssue } from './order-row.js';
import { readInteger } from './row-reader.js';

export const FIND_ISSUE_FLOOR = `
  SELECT sequence FROM issues WHERE sequence < ? ORDER BY sequence DESC LIMIT 1 OFFSET ?`;

export const SEARCH_ISSUES = `
  SELECT * FROM issues
  WHERE sequence < ?1 AND sequence >= ?2
    AND (?3 IS NULL OR state = ?3)
    AND NOT EXISTS (SELECT 1 FROM json_each(?4) AS word WHERE instr(lower(issue_ref), word.value) = 0)
  ORDER BY sequence DESC LIMIT ?5`;

/** One page of the issues that are searched for. */
export async function searchIssues(
  database: Database,
  { page, before, state, words }: IssueSearch,
  window: number,
): Promise<Listed<IssueRecord>> {
  return database.read(() => {
    const last = database.prepare(FIND_ISSUE_FLOOR).get(before, window - 1);
    const floor = last === undefined ? undefined : readInteger(last, 'sequence');
    const search = database.prepare(SEARCH_ISSUES);
    const rows = search.all(before, floor ?? 0, state, JSON.stringify(words), page.size + 1);
    return toSearched(rows, page, floor, readIssue, (row) => readInteger(row, 'sequence'));
  });
}
