import { query } from '../../app/router.js';
import { client } from '../../server/client.js';
import { FilterChoice, FilterText } from '../../ui/filter-field.js';
import { ListPage } from '../../ui/list-page.js';
import { AUDIT_FILTERS, DECISIONS, exportAddress, readAuditFilter } from './execution-filter.js';
import { ExecutionTable } from './execution-table.js';

/** Every execution and what came of it, for good. */
export function ExecutionsPage() {
  const filter = readAuditFilter(query.value);
  return (
    <ListPage
      title="Audit"
      one="execution"
      what="executions"
      end={
        <>
          <span class="dim">What fits the filter, as a file:</span>
          <a class="button" href={exportAddress(filter, 'csv')} download="audit.csv">
            CSV
          </a>
          <a class="button" href={exportAddress(filter, 'ndjson')} download="audit.ndjson">
            NDJSON
          </a>
        </>
      }
      filter={filter}
      names={AUDIT_FILTERS}
      fields={
        <>
          <FilterText name="issue_ref" label="Issue" type="search" placeholder="acme/shop#12, exactly" />
          <FilterText name="run_id" label="Run" placeholder="2026-11-15-dev-0001" />
          <FilterText name="worker" label="Worker" placeholder="codex-cli" />
          <FilterChoice name="decision" label="Decision" options={DECISIONS} />
          <FilterText name="from" label="From" type="date" />
          <FilterText name="to" label="To" type="date" />
        </>
      }
      load={async (asked, signal) => client.listExecutions({ query: asked, signal })}
      keyOf={(execution) => execution.id}
      nothingYet={
        <>
          <strong>Nothing was executed yet</strong>
          <p>Every order that a worker has done leaves a row here, and so does everything a person decides.</p>
        </>
      }
    >
      {(executions, list) => <ExecutionTable executions={executions} list={list} />}
    </ListPage>
  );
}
