import type { ExecutionFilter, OrderStore } from '../../store/ports/index.js';
import type { ExecutionRecord } from '../../store/records/index.js';

export type ExportFormat = 'csv' | 'ndjson';

const PAGE = 500;

/** Exports all executions, newest first, loading them page by page while the file is sent. */
export async function* exportExecutions(
  store: Pick<OrderStore, 'listExecutions'>,
  filter: ExecutionFilter,
  format: ExportFormat,
): AsyncGenerator<Uint8Array, void> {
  if (format === 'csv') yield Buffer.from(formatExecutionHeading());
  let cursor: string | undefined;
  do {
    const page = await store.listExecutions({ ...filter, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    yield Buffer.from(
      page.items.map((row) => (format === 'csv' ? formatExecutionRow(row) : `${JSON.stringify(row)}\n`)).join(''),
    );
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** The columns, most important first. */
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

export function formatExecutionHeading(): string {
  return `${COLUMNS.join(',')}\r\n`;
}

export function formatExecutionRow(row: ExecutionRecord): string {
  return `${COLUMNS.map((column) => formatCsvCell(row[column])).join(',')}\r\n`;
}

/** Characters that start a formula in spreadsheets, full-width forms included. */
const FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/**
 * Formats a value as a cell of a CSV file (RFC 4180). Numbers stay numbers. Text is quoted, and text that a spreadsheet
 * would evaluate as a formula is prefixed with an apostrophe: some of it was written by agents.
 *
 * @example
 * formatCsvCell('=1+1') // `"'=1+1"`
 */
export function formatCsvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const escaped = FORMULA.test(text) ? `'${text}` : text;
  return `"${escaped.replaceAll('\0', '\u{FFFD}').replaceAll('"', '""')}"`;
}
