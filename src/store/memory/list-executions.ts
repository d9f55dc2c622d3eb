import type { ExecutionRecord } from '../../records/index.js';
import type { ExecutionFilter, Listed, Page } from '../../orders/index.js';
import { executionCursor, readExecutionPage, type ExecutionPlace } from '../execution-page.js';
import { toListed } from '../page.js';
import { copyOf, type Row } from './tables.js';

/** One page of the audit, newest first: by time. */
export function listExecutions(
  rows: Iterable<Row<ExecutionRecord>>,
  filter: Page & ExecutionFilter,
): Listed<ExecutionRecord> {
  const { issueRef, runId, worker, decision, since } = filter;
  const window = readExecutionPage(filter);
  const { after, until } = window;
  const found = [...rows]
    .filter(
      ({ sequence, record }) =>
        (issueRef === undefined || record.issue_ref === issueRef) &&
        (runId === undefined || record.run_id === runId) &&
        (worker === undefined || record.worker === worker) &&
        (decision === undefined || record.decision === decision) &&
        (since === undefined || record.at >= since) &&
        (until === null || record.at < until) &&
        (after === null || compare({ at: record.at, sequence }, after) < 0),
    )
    .toSorted((left, right) => compare(placeOf(right), placeOf(left)));
  return toListed(
    found,
    window,
    ({ record }) => copyOf(record),
    (row) => executionCursor(placeOf(row)),
  );
}

function placeOf({ sequence, record }: Row<ExecutionRecord>): ExecutionPlace {
  return { at: record.at, sequence };
}

function compare(one: ExecutionPlace, other: ExecutionPlace): number {
  if (one.at !== other.at) return one.at < other.at ? -1 : 1;
  return one.sequence - other.sequence;
}
