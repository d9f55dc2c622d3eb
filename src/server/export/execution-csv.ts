import type { ExecutionRecord } from '../../records/index.js';
import { csvCell } from './csv-cell.js';

/** The columns, in the order in which people look at them. */
const COLUMNS = [
  'at',
  'issue_ref',
  'run_id',
  'decision',
  'result_code',
  'reason',
  'who',
  'worker',
  'worker_type',
  'worker_version',
  'command',
  'started_at',
  'duration_ms',
  'exit_code',
  'signal',
  'result_encoding',
  'parse_path',
  'parse_status',
  'problems',
  'parser_version',
  'run',
  'id',
] as const satisfies readonly (keyof ExecutionRecord)[];

/** The names of the columns, as the first line of a CSV file. */
export function executionHeading(): string {
  return `${COLUMNS.join(',')}\r\n`;
}

/** An execution as a line of a CSV file. */
export function executionRow(row: ExecutionRecord): string {
  return `${COLUMNS.map((column) => csvCell(row[column])).join(',')}\r\n`;
}
