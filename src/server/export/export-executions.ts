import type { ExecutionFilter, OrderStore } from '../../orders/index.js';
import { executionHeading, executionRow } from './execution-csv.js';

/** How the audit is taken away. */
export type ExportFormat = 'csv' | 'ndjson';

const PAGE = 500;

/** The audit as a file, newest first, read page by page while it is sent: it may be of any length. */
export async function* exportExecutions(
  store: Pick<OrderStore, 'listExecutions'>,
  filter: ExecutionFilter,
  format: ExportFormat,
): AsyncGenerator<Uint8Array, void> {
  if (format === 'csv') yield Buffer.from(executionHeading());
  let cursor: string | undefined;
  do {
    const page = await store.listExecutions({ ...filter, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    yield Buffer.from(
      page.items.map((row) => (format === 'csv' ? executionRow(row) : `${JSON.stringify(row)}\n`)).join(''),
    );
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}
