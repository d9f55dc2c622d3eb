import type { Client } from '../../../src/server/client/index.js';
import { query } from '../../app/router.js';
import { client } from '../../data/client.js';
import { listStateOptions, StateBadge } from '../../ui/badge.js';
import { Facts, IssueLink, Notes, RunLink, Verdicts } from '../../ui/facts.js';
import { formatDuration, Timestamp } from '../../ui/format.js';
import { ListPage, readFilters, type Filter } from '../../ui/list-page.js';
import type { Column } from '../../ui/row-table.js';
import { SafeText } from '../../ui/safe-text.js';
import { Link } from '../../ui/button.js';

type ExecutionQuery = NonNullable<NonNullable<Parameters<Client['listExecutions']>[0]>['query']>;
type ExecutionView = Awaited<ReturnType<Client['listExecutions']>>['items'][number];

const FILTERS: readonly Filter[] = [
  { name: 'issue_ref', label: 'Issue', kind: 'search', placeholder: 'Exact reference, such as acme/shop#12' },
  { name: 'run_id', label: 'Run', kind: 'text', placeholder: '2026-11-15-dev-0001' },
  { name: 'worker', label: 'Wrapper', kind: 'text', placeholder: 'codex-cli' },
  {
    name: 'decision',
    label: 'Decision',
    kind: 'choice',
    options: listStateOptions(['advance', 'needs-human', 'blocked', 'archive']),
  },
  { name: 'from', label: 'From', kind: 'from', parameter: 'since' },
  { name: 'to', label: 'To', kind: 'to', parameter: 'until' },
];

/** Reads the filter from the address. */
export function readExecutionFilter(address: URLSearchParams): ExecutionQuery {
  return readFilters(FILTERS, address);
}

const PARSE_STATUSES: Readonly<Record<ExecutionView['parse_status'], string>> = {
  parsed: 'Parsed',
  incomplete: 'Incomplete',
  unreadable: 'Unreadable',
  anchors: 'Hints only',
  missing: 'Missing',
};

const SOURCES: Readonly<Record<ExecutionView['result_encoding'], string>> = {
  json: 'JSON file',
  text: 'Text file',
  streams: 'Output streams',
  none: 'No result',
};

const COLUMNS: readonly Column<ExecutionView>[] = [
  { name: 'Decision', width: '8.5rem', cell: ({ decision }) => <StateBadge state={decision} /> },
  {
    name: 'Issue',
    class: 'wide',
    cell: ({ issue_ref, run_id, reason }, opener) => (
      <>
        {opener(
          <>
            {issue_ref} <span class="dim">{run_id}</span>
          </>,
        )}
        <SafeText as="span" class="below clip" text={reason} limit={300} />
      </>
    ),
  },
  { name: 'Wrapper', width: '8rem', cell: ({ worker }) => worker },
  {
    name: 'Parsed',
    width: '7.5rem',
    cell: ({ parse_status, result_encoding }) => (
      <>
        {PARSE_STATUSES[parse_status]}
        <span class="below">{SOURCES[result_encoding]}</span>
      </>
    ),
  },
  {
    name: 'Duration',
    width: '7rem',
    isNumber: true,
    cell: ({ duration_ms }) => (duration_ms === null ? '' : formatDuration(duration_ms)),
  },
  {
    name: 'Decided',
    width: '9.5rem',
    class: 'nowrap',
    cell: ({ at, who }) => (
      <>
        <Timestamp at={at} />
        <span class="below">{who === null ? 'By the rules' : <SafeText text={who} />}</span>
      </>
    ),
  },
];

/** The permanent list of all executions and their decisions. */
export function ExecutionsPage() {
  const filter = readExecutionFilter(query.value);
  return (
    <ListPage
      title="Executions"
      itemName="execution"
      end={
        <>
          <span class="dim">Download matching rows:</span>
          <Link label="CSV" class="button" href={buildExportUrl(filter, 'csv')} download="executions.csv" />
          <a class="button" href={buildExportUrl(filter, 'ndjson')} download="executions.ndjson">
            NDJSON
          </a>
        </>
      }
      filters={FILTERS}
      load={async (filterAndPage, signal) => client.listExecutions({ query: filterAndPage, signal })}
      getKey={(execution) => execution.id}
      columns={COLUMNS}
      details={(execution) => <Details execution={execution} />}
      emptyTitle="No executions yet"
      emptyText="Each executed order and each human decision adds a row."
    />
  );
}

function Details({ execution }: Readonly<{ execution: ExecutionView }>) {
  return (
    <Facts
      facts={{
        Issue: <IssueLink of={execution.issue_ref} />,
        Run: <RunLink id={execution.run} label={execution.run_id} />,
        Reason: execution.reason,
        Evidence: execution.evidence?.length ? <Verdicts evidence={execution.evidence} /> : null,
        'Result code': execution.result_code,
        'Decided by': execution.who ?? 'The rules',
        Wrapper: `${execution.worker} (${execution.worker_type})`,
        'Agent version': execution.worker_version,
        Command: execution.command.length === 0 ? 'None' : <SafeText as="code" text={execution.command.join('\n')} />,
        Started: <Timestamp at={execution.started_at} />,
        'Exit code': execution.exit_code,
        Signal: execution.signal,
        'Read from': execution.parse_path ?? SOURCES[execution.result_encoding],
        'Parser version': execution.parser_version,
        Problems: execution.problems.length === 0 ? null : <Notes notes={execution.problems} />,
      }}
    />
  );
}

/** Returns the URL that downloads the same rows as a file. */
export function buildExportUrl(filter: ExecutionQuery, format: 'csv' | 'ndjson'): string {
  const parameters = Object.entries(filter).map(([name, value]) => [name, String(value)]);
  return `/v1/executions/export?${new URLSearchParams([['format', format], ...parameters]).toString()}`;
}
