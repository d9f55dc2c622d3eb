import { omitUndefined } from '../../base/index.js';
import type { Decision, OutboxMessage } from '../../store/records/index.js';
import type { ExecutionFilter } from '../../store/ports/index.js';
import { exportExecutions } from '../export/export-executions.js';
import type { ExportFormat } from '../export/export-executions.js';
import { readPage, readTime } from './query.js';
import type { Handlers } from '../http/request-checks.js';
import { RequestError } from '../http/problem.js';
import type { ServerContext } from '../server-context.js';
import { streamBody } from '../http/responses.js';
import { reportBudgets } from '../../orders/dispatch/index.js';
import { createWaitingList } from '../waiting/waiting-list.js';
import { countStatistics, readStatisticsSpan } from './statistics.js';

const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
};

/** Creates the handlers for the outbox, sinks, executions, workers, budgets, statistics and everything that waits. */
export function createRecordHandlers({ store, settings, clock }: ServerContext) {
  const waitingList = createWaitingList(store);
  return {
    async listOutbox({ query }) {
      const { issue_ref: issueRef } = query;
      const state = query['state'] as OutboxMessage['state'] | undefined;
      return store.listOutbox({ ...readPage(query), ...omitUndefined({ issueRef, state }) });
    },
    async redeliverComment({ params }) {
      const redelivered = await store.redeliver({ id: params.id }, clock());
      if (redelivered > 0) return { redelivered };
      throw new RequestError(
        'COMMENT_NOT_FOUND',
        'No comment with this id has failed or is waiting for delivery. GET /v1/outbox lists all comments.',
      );
    },
    redeliverSink: async ({ body }) => ({ redelivered: await store.redeliver({ sink: body.sink }, clock()) }),
    listSinks: async () => ({ items: await store.listSinks(), next_cursor: null }),
    listWorkers: async () => ({ items: await store.listWorkers(clock()), next_cursor: null }),
    listExecutions: async ({ query }) => store.listExecutions({ ...readPage(query), ...readExecutionFilter(query) }),
    async exportExecutions({ query, context }) {
      const format = (query['format'] ?? 'csv') as ExportFormat;
      const today = new Date(clock()).toISOString().slice(0, 10);
      const headers = {
        'content-type': EXPORT_TYPES[format],
        'content-disposition': `attachment; filename="sluice-audit-${today}.${format}"`,
      };
      const rows = exportExecutions(store, readExecutionFilter(query), format);
      return new Response(context.req.method === 'HEAD' ? null : streamBody(rows), { headers });
    },
    listBudgets: async () => reportBudgets(store, settings.budgets, clock()),
    listWaiting: async () => waitingList.read(),
    async readStatistics({ query }) {
      const now = clock();
      const span = readStatisticsSpan(query, now);
      const { since, until, stepMs } = span;
      const [runs, inbox] = await Promise.all([store.listRunSlots(span), store.readInboxHistory(span)]);
      return {
        since: new Date(since).toISOString(),
        until: new Date(until).toISOString(),
        step_s: stepMs / 1000,
        complete: true,
        buckets: countStatistics({ span, runs, inbox, now }),
      };
    },
  } satisfies Partial<Handlers>;
}

function readExecutionFilter(query: Readonly<Record<string, string>>): ExecutionFilter {
  const { issue_ref: issueRef, run_id: runId, worker } = query;
  const [since, until] = [normalizeTime(query, 'since'), normalizeTime(query, 'until')];
  const decision = query['decision'] as Decision['action'] | undefined;
  // Record times are compared as strings, so filter times must have the same format.
  return omitUndefined({ issueRef, runId, worker, decision, since, until });
}

function normalizeTime(query: Readonly<Record<string, string>>, name: string): string | undefined {
  const time = readTime(query, name);
  return time === undefined ? undefined : new Date(time).toISOString();
}
