import type { Listed } from '../../orders/index.js';
import type { RunRecord } from '../../records/index.js';
import { nextFloor } from '../run-search.js';
import type { RunSearch } from '../run-search.js';
import { toSearched } from '../search-page.js';
import { readRun } from './tables.js';
import type { RunRow, Tables } from './tables.js';

/** One page of the runs that are searched for. */
export function searchRuns(tables: Tables, search: RunSearch, window: number): Listed<RunRecord> {
  const looked = [...tables.runs.values()]
    .filter(({ sequence }) => sequence < search.before)
    .toSorted((left, right) => right.sequence - left.sequence)
    .slice(0, window);
  const last = looked.length === window ? looked.at(-1) : undefined;
  const floor =
    last === undefined ? undefined : { sequence: last.sequence, createdAt: Date.parse(last.record.created_at) };
  return toSearched(
    looked.filter((row) => isFound(row, search)),
    search.page,
    nextFloor(search, floor),
    (row) => readRun(tables, row),
    ({ sequence }) => sequence,
  );
}

function isFound({ record, searchText }: RunRow, search: RunSearch): boolean {
  const { words, state, engine, outcome, repairLevel, since, until } = search;
  const createdAt = Date.parse(record.created_at);
  return (
    (state === null || record.state === state) &&
    (engine === null || record.spec.engine === engine) &&
    (outcome === null || record.result?.status === outcome) &&
    (repairLevel === null || record.result?.repair_level === repairLevel) &&
    createdAt >= since &&
    createdAt < until &&
    words.every((word) => searchText.includes(word))
  );
}
