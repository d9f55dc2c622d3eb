import type { Decision, OutboxMessage } from '../../records/index.js';
import type { ExecutionFilter } from '../../orders/index.js';
import { exportExecutions } from '../export/export-executions.js';
import type { ExportFormat } from '../export/export-executions.js';
import { pageOf } from '../page-of.js';
import { present } from '../present.js';
import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { streamOf } from '../stream-of.js';

const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
};

/** What was sent and what was done. */
export function createRecordHandlers({
  store,
  clock,
}: ServerContext): Pick<Handlers, 'listOutbox' | 'listExecutions' | 'exportExecutions'> {
  return {
    async listOutbox({ query }) {
      const { issue_ref: issueRef } = query;
      const state = query['state'] as OutboxMessage['state'] | undefined;
      return store.listOutbox({ ...pageOf(query), ...present({ issueRef, state }) });
    },
    listExecutions: async ({ query }) => store.listExecutions({ ...pageOf(query), ...executionFilter(query) }),
    async exportExecutions({ query, context }) {
      const format = (query['format'] ?? 'csv') as ExportFormat;
      const today = new Date(clock()).toISOString().slice(0, 10);
      const headers = {
        'content-type': EXPORT_TYPES[format],
        'content-disposition': `attachment; filename="sluice-audit-${today}.${format}"`,
      };
      const rows = exportExecutions(store, executionFilter(query), format);
      return new Response(context.req.method === 'HEAD' ? null : streamOf(rows), { headers });
    },
  };
}

function executionFilter(query: Readonly<Record<string, string>>): ExecutionFilter {
  const { issue_ref: issueRef, run_id: runId, worker, since, until } = query;
  const decision = query['decision'] as Decision['action'] | undefined;
  return present({ issueRef, runId, worker, decision, since, until });
}
