import type { ExecutionRecord } from '../../records/index.js';
import type { ExecutionFilter, Listed, Page } from '../../orders/index.js';
import { executionCursor, readExecutionPage } from '../execution-page.js';
import { toListed } from '../page.js';
import { columnsOf } from './columns.js';
import type { Queryable } from './driver.js';

/** One page of the audit, newest first: by time, which every index of executions ends with. */
export async function listExecutions(
  database: Queryable,
  filter: Page & ExecutionFilter,
): Promise<Listed<ExecutionRecord>> {
  const { issueRef, runId, worker, decision, since } = filter;
  const window = readExecutionPage(filter);
  const conditions: readonly (readonly [sql: string, ...values: (string | number | undefined)[]])[] = [
    ['issue_ref = ?', issueRef],
    ['run_id = ?', runId],
    ['worker = ?', worker],
    ['decision = ?', decision],
    ['at >= ?', since],
    ['at < ?', window.until ?? undefined],
    ['(at, seq) < (?, ?)', window.after?.at, window.after?.sequence],
  ];
  const values: (string | number)[] = [window.size + 1];
  const wanted = conditions
    .filter(([, value]) => value !== undefined)
    .map(([sql, ...given]) => {
      const bound = given.filter((value) => value !== undefined);
      return bound.reduce<string>((text, value) => text.replace('?', `$${values.push(value)}`), sql);
    });
  const where = wanted.length === 0 ? '' : `WHERE ${wanted.join(' AND ')}`;
  const { rows } = await database.query(
    `SELECT * FROM sluice.executions ${where} ORDER BY at DESC, seq DESC LIMIT $1`,
    values,
  );
  return toListed(
    rows,
    window,
    (row) => columnsOf(row).json('record') as ExecutionRecord,
    (row) => executionCursor({ at: columnsOf(row).text('at'), sequence: columnsOf(row).number('seq') }),
  );
}
