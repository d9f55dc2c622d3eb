import type { ExecutionRecord } from '../../orders/ports/execution-record.js';
import type { ExecutionFilter, OrderStore } from '../../orders/ports/order-store.js';
import { csvCell } from './csv-cell.js';

/** How the audit is taken away. */
export type ExportFormat = 'csv' | 'ndjson';

const PAGE = 500;

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
  'run_ulid',
  'id',
] as const satisfies readonly (keyof ExecutionRecord)[];

/** The audit as a file, newest first, read page by page while it is sent: it may be of any length. */
export async function* exportExecutions(
  store: Pick<OrderStore, 'listExecutions'>,
  filter: ExecutionFilter,
  format: ExportFormat,
): AsyncGenerator<Uint8Array, void> {
  if (format === 'csv') yield Buffer.from(`${COLUMNS.join(',')}\r\n`);
  let cursor: string | undefined;
  do {
    const page = await store.listExecutions({ ...filter, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    yield Buffer.from(page.items.map((row) => (format === 'csv' ? csvRow(row) : `${JSON.stringify(row)}\n`)).join(''));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

function csvRow(row: ExecutionRecord): string {
  return `${COLUMNS.map((column) => csvCell(row[column])).join(',')}\r\n`;
}
