import type { Listed } from '../../orders/index.js';
import type { IssueRecord } from '../../records/index.js';
import type { IssueSearch } from '../issue-search.js';
import { toSearched } from '../search-page.js';
import { copyOf } from './tables.js';
import type { Tables } from './tables.js';

/** One page of the issues that are searched for. */
export function searchIssues({ issues }: Tables, search: IssueSearch, window: number): Listed<IssueRecord> {
  const { page, before, state, words } = search;
  const looked = [...issues.values()]
    .filter(({ sequence }) => sequence < before)
    .toSorted((left, right) => right.sequence - left.sequence)
    .slice(0, window);
  const found = looked.filter(
    ({ record }) =>
      (state === null || record.state === state) &&
      words.every((word) => record.issue_ref.toLowerCase().includes(word)),
  );
  return toSearched(
    found,
    page,
    looked.length === window ? looked.at(-1)?.sequence : undefined,
    ({ record }) => copyOf(record),
    ({ sequence }) => sequence,
  );
}
