import type { Client } from '../../../src/server/client/index.js';
import { query } from '../../app/router.js';
import { client } from '../../data/client.js';
import { listStateOptions, StateBadge, Link } from '../../ui/parts.js';
import { Facts, IssueLink, Notes, RunLink, Verdicts } from '../../ui/facts.js';
import { formatDuration, Timestamp, SafeText } from '../../ui/text.js';
import { ListPage, readFilters, type Filter } from '../../ui/list-page.js';
import type { Column } from '../../ui/row-table.js';
import { t } from './texts.js';

type ExecutionQuery = NonNullable<NonNullable<Parameters<Client['listExecutions']>[0]>['query']>;
type ExecutionView = Awaited<ReturnType<Client['listExecutions']>>['items'][number];

const FILTERS: readonly Filter[] = [
  { name: 'issue_ref', label: t.issue, kind: 'search', placeholder: t.exactReferenceSuchAsAcme },
  { name: 'run_id', label: t.run, kind: 'text', placeholder: '2026-11-15-dev-0001' },
  { name: 'worker', label: t.wrapper, kind: 'text', placeholder: 'codex-cli' },
  {
    name: 'decision',
    label: t.decision,
    kind: 'choice',
    options: listStateOptions(['advance', 'needs-human', 'blocked', 'archive']),
  },
  { name: 'from', label: t.from, kind: 'from', parameter: 'since' },
  { name: 'to', label: t.to, kind: 'to', parameter: 'until' },
];

export function readExecutionFilter(address: URLSearchParams): ExecutionQuery {
  return readFilters(FILTERS, address);
}

const COLUMNS: readonly Column<ExecutionView>[] = [
  { name: t.decision, width: '10.4rem', cell: ({ decision }) => <StateBadge state={decision} isOver /> },
  {
    name: t.issue,
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
  { name: t.wrapper, width: '8rem', cell: ({ worker }) => worker },
  {
    name: t.parsed,
    width: '7.5rem',
    cell: ({ parse_status, result_encoding }) => (
      <>
        {t.parseStatuses[parse_status]}
        <span class="below">{t.sources[result_encoding]}</span>
      </>
    ),
  },
  {
    name: t.duration,
    width: '7rem',
    isNumber: true,
    cell: ({ duration_ms }) => (duration_ms === null ? '' : formatDuration(duration_ms)),
  },
  {
    name: t.decided,
    width: '9.5rem',
    class: 'nowrap',
    cell: ({ at, who }) => (
      <>
        <Timestamp at={at} />
        <span class="below">{who === null ? t.byTheRules : <SafeText text={who} />}</span>
      </>
    ),
  },
];

export function ExecutionsPage() {
  const filter = readExecutionFilter(query.value);
  return (
    <ListPage
      title={t.pages.executions}
      itemName="execution"
      end={
        <>
          <span class="dim">{t.downloadMatchingRows}</span>
          <Link label={t.csv} class="button" href={buildExportUrl(filter, 'csv')} download="executions.csv" />
          <a class="button" href={buildExportUrl(filter, 'ndjson')} download="executions.ndjson">
            {t.ndjson}
          </a>
        </>
      }
      filters={FILTERS}
      load={async (filterAndPage, signal) => client.listExecutions({ query: filterAndPage, signal })}
      getKey={(execution) => execution.id}
      columns={COLUMNS}
      details={(execution) => <Details execution={execution} />}
      emptyTitle={t.noExecutionsYet}
      emptyText={t.eachExecutedOrderAndEach}
    />
  );
}

function Details({ execution }: Readonly<{ execution: ExecutionView }>) {
  return (
    <Facts
      facts={{
        [t.issue]: <IssueLink of={execution.issue_ref} />,
        [t.run]: <RunLink id={execution.run} label={execution.run_id} />,
        [t.reason]: execution.reason,
        [t.evidence]: execution.evidence?.length ? <Verdicts evidence={execution.evidence} /> : null,
        [t.resultCode]: execution.result_code,
        [t.decidedBy]: execution.who ?? t.theRules,
        [t.wrapper]: `${execution.worker} (${execution.worker_type})`,
        [t.agentVersion]: execution.worker_version,
        [t.command]:
          execution.command.length === 0 ? t.none : <SafeText as="code" text={execution.command.join('\n')} />,
        [t.started]: <Timestamp at={execution.started_at} />,
        [t.exitCode]: execution.exit_code,
        [t.signal]: execution.signal,
        [t.readFrom]: execution.parse_path ?? t.sources[execution.result_encoding],
        [t.parserVersion]: execution.parser_version,
        [t.problems]: execution.problems.length === 0 ? null : <Notes notes={execution.problems} />,
      }}
    />
  );
}

export function buildExportUrl(filter: ExecutionQuery, format: 'csv' | 'ndjson'): string {
  const parameters = Object.entries(filter).map(([name, value]) => [name, String(value)]);
  return `/v1/executions/export?${new URLSearchParams([['format', format], ...parameters]).toString()}`;
}
