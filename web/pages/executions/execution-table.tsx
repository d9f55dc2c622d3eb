import type { RefObject } from 'preact';
import type { Client } from '../../../src/client/index.js';
import { toPath } from '../../app/route.js';
import { StateBadge } from '../../ui/badge.js';
import { Facts } from '../../ui/facts.js';
import { Notes } from '../../ui/notes.js';
import { OpenableRow } from '../../ui/openable-row.js';
import { RowTable } from '../../ui/row-table.js';
import type { Column } from '../../ui/row-table.js';
import { SafeText } from '../../ui/safe-text.js';
import { formatDuration, Timestamp } from '../../ui/time.js';
import { Verdicts } from '../../ui/verdicts.js';

/** One row in the list. */
type ExecutionView = Awaited<ReturnType<Client['listExecutions']>>['items'][number];

const COLUMNS: readonly Column[] = [
  { name: 'Decision', width: '8.5rem' },
  { name: 'Issue' },
  { name: 'Wrapper', width: '8rem' },
  { name: 'Parsed', width: '7.5rem' },
  { name: 'Duration', width: '7rem', isNumber: true },
  { name: 'Decided', width: '9.5rem' },
];

/** Parse status labels. */
const PARSE_STATUSES: Readonly<Record<ExecutionView['parse_status'], string>> = {
  parsed: 'Parsed',
  incomplete: 'Incomplete',
  unreadable: 'Unreadable',
  anchors: 'Hints only',
  missing: 'Missing',
};

/** Result source labels. */
const SOURCES: Readonly<Record<ExecutionView['result_encoding'], string>> = {
  json: 'JSON file',
  text: 'Text file',
  streams: 'Output streams',
  none: 'No result',
};

/** The table of executions. */
export function ExecutionTable({
  executions,
  list,
}: {
  readonly executions: readonly ExecutionView[];
  readonly list: RefObject<HTMLTableElement>;
}) {
  return (
    <RowTable columns={COLUMNS} list={list}>
      {executions.map((execution) => (
        <OpenableRow
          key={execution.id}
          id={execution.id}
          columns={COLUMNS.length}
          details={() => <Details execution={execution} />}
          cells={(opener) => (
            <>
              <td>
                <StateBadge state={execution.decision} />
              </td>
              <td class="wide">
                {opener(
                  <>
                    {execution.issue_ref} <span class="dim">{execution.run_id}</span>
                  </>,
                )}
                <span class="below clip">
                  <SafeText text={execution.reason} limit={300} />
                </span>
              </td>
              <td>{execution.worker}</td>
              <td>
                {PARSE_STATUSES[execution.parse_status]}
                <span class="below">{SOURCES[execution.result_encoding]}</span>
              </td>
              <td class="number">{execution.duration_ms === null ? '' : formatDuration(execution.duration_ms)}</td>
              <td class="nowrap">
                <Timestamp at={execution.at} />
                <span class="below">{execution.who === null ? 'By the rules' : <SafeText text={execution.who} />}</span>
              </td>
            </>
          )}
        />
      ))}
    </RowTable>
  );
}

function Details({ execution }: { readonly execution: ExecutionView }) {
  return (
    <Facts
      facts={{
        Issue: <a href={toPath({ page: 'issues', ref: execution.issue_ref })}>{execution.issue_ref}</a>,
        Run: <a href={toPath({ page: 'run', id: execution.run })}>{execution.run_id}</a>,
        Reason: <SafeText text={execution.reason} />,
        Evidence:
          execution.evidence === undefined || execution.evidence.length === 0 ? undefined : (
            <Verdicts evidence={execution.evidence} />
          ),
        'Result code': <SafeText text={execution.result_code} />,
        'Decided by': execution.who === null ? 'The rules' : <SafeText text={execution.who} />,
        Wrapper: `${execution.worker} (${execution.worker_type})`,
        'Agent version': execution.worker_version === null ? undefined : <SafeText text={execution.worker_version} />,
        Command:
          execution.command.length === 0 ? (
            'None'
          ) : (
            <code>
              <SafeText text={execution.command.join('\n')} />
            </code>
          ),
        Started: <Timestamp at={execution.started_at} />,
        'Exit code': execution.exit_code === null ? undefined : String(execution.exit_code),
        Signal: execution.signal ?? undefined,
        'Read from':
          execution.parse_path === null ? SOURCES[execution.result_encoding] : <SafeText text={execution.parse_path} />,
        'Parser version': execution.parser_version,
        Problems: execution.problems.length === 0 ? undefined : <Notes notes={execution.problems} />,
      }}
    />
  );
}
