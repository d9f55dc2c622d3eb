import type { ExecutionRecord } from '../../records/index.js';
import type { ExecutionFilter, Listed, Page } from '../../orders/index.js';
import { executionCursor, readExecutionPage, type ExecutionWindow } from '../execution-page.js';
import { toListed } from '../page.js';
import type { Database } from './database.js';
import type { SqlValue } from './driver.js';
import { readInteger, readJson, readText } from './row-reader.js';

/** One page of the audit, newest first: by time, which every index of executions ends with. */
export async function listExecutions(
  database: Database,
  filter: Page & ExecutionFilter,
): Promise<Listed<ExecutionRecord>> {
  return database.read(() => {
    const window = readExecutionPage(filter);
    const { sql, values } = executionsStatement(filter, window);
    const rows = database.prepare(sql).all(...values, window.size + 1);
    return toListed(
      rows,
      window,
      (row) => readJson(row, 'record') as ExecutionRecord,
      (row) => executionCursor({ at: readText(row, 'at'), sequence: readInteger(row, 'sequence') }),
    );
  });
}

/** The statement of a list, without the limit it is bound with. */
export function executionsStatement(
  { issueRef, runId, worker, decision, since }: ExecutionFilter,
  { after, until }: ExecutionWindow,
): { readonly sql: string; readonly values: readonly SqlValue[] } {
  const conditions: readonly (readonly [sql: string, ...values: (SqlValue | undefined)[]])[] = [
    ['issue_ref = ?', issueRef],
    ['run_id = ?', runId],
    ['worker = ?', worker],
    ['decision = ?', decision],
    ['at >= ?', since],
    ['at < ?', until ?? undefined],
    ['(at, sequence) < (?, ?)', after?.at, after?.sequence],
  ];
  const wanted = conditions.filter(([, value]) => value !== undefined);
  const where = wanted.length === 0 ? '' : `WHERE ${wanted.map(([sql]) => sql).join(' AND ')}`;
  return {
    sql: `SELECT * FROM executions ${where} ORDER BY at DESC, sequence DESC LIMIT ?`,
    values: wanted.flatMap(([, ...values]) => values.filter((value) => value !== undefined)),
  };
}
