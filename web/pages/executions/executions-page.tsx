import { listStateOptions } from '../../ui/badge.js';
import { query } from '../../app/router.js';
import { client } from '../../server/client.js';
import { FilterChoice, FilterText } from '../../ui/filter-field.js';
import { ListPage } from '../../ui/list-page.js';
import { EXECUTION_FILTERS, DECISIONS, buildExportUrl, readExecutionFilter } from './execution-filter.js';
import { ExecutionTable } from './execution-table.js';

/** The permanent list of all executions and their decisions. */
export function ExecutionsPage() {
  const filter = readExecutionFilter(query.value);
  return (
    <ListPage
      title="Executions"
      itemName="execution"
      itemsName="executions"
      end={
        <>
          <span class="dim">Download matching rows:</span>
          <a class="button" href={buildExportUrl(filter, 'csv')} download="executions.csv">
            CSV
          </a>
          <a class="button" href={buildExportUrl(filter, 'ndjson')} download="executions.ndjson">
            NDJSON
          </a>
        </>
      }
      filter={filter}
      names={EXECUTION_FILTERS}
      fields={
        <>
          <FilterText
            name="issue_ref"
            label="Issue"
            type="search"
            placeholder="Exact reference, such as acme/shop#12"
          />
          <FilterText name="run_id" label="Run" placeholder="2026-11-15-dev-0001" />
          <FilterText name="worker" label="Wrapper" placeholder="codex-cli" />
          <FilterChoice name="decision" label="Decision" options={listStateOptions(DECISIONS)} />
          <FilterText name="from" label="From" type="date" />
          <FilterText name="to" label="To" type="date" />
        </>
      }
      load={async (filterAndPage, signal) => client.listExecutions({ query: filterAndPage, signal })}
      getKey={(execution) => execution.id}
      emptyState={
        <>
          <strong>No executions yet</strong>
          <p>Each executed order and each human decision adds a row.</p>
        </>
      }
    >
      {(executions, list) => <ExecutionTable executions={executions} list={list} />}
    </ListPage>
  );
}
