import { useRef } from 'preact/hooks';
import { query } from '../../app/router.js';
import { client } from '../../server/client.js';
import { useLiveList } from '../../server/use-live-list.js';
import { ClearFilters, FilterChoice, FilterText } from '../../ui/filter-field.js';
import { ListFrame } from '../../ui/list-frame.js';
import { isReading, useRowKeys } from '../../ui/use-row-keys.js';
import { AUDIT_FILTERS, DECISIONS, exportAddress, readAuditFilter } from './audit-filter.js';
import { ExecutionTable } from './execution-table.js';
import './audit.css';

/** Every execution and what came of it, for good. */
export function AuditPage() {
  const rows = useRef<HTMLTableElement>(null);
  const filter = readAuditFilter(query.value);
  const executions = useLiveList(
    JSON.stringify(filter),
    async (page, signal) => client.listExecutions({ query: { ...filter, ...page }, signal }),
    (execution) => execution.id,
    () => isReading(rows.current),
  );
  useRowKeys(rows);
  return (
    <>
      <div class="page-head">
        <h1>Audit</h1>
        <span class="row end">
          <span class="dim">What fits the filter, as a file:</span>
          <a class="button" href={exportAddress(filter, 'csv')} download="audit.csv">
            CSV
          </a>
          <a class="button" href={exportAddress(filter, 'ndjson')} download="audit.ndjson">
            NDJSON
          </a>
        </span>
      </div>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <FilterText name="issue_ref" label="Issue" type="search" placeholder="acme/shop#12, exactly" />
        <FilterText name="run_id" label="Run" placeholder="2026-11-15-dev-0001" />
        <FilterText name="worker" label="Worker" placeholder="codex-cli" />
        <FilterChoice name="decision" label="Decision" options={DECISIONS} />
        <FilterText name="from" label="From" type="date" />
        <FilterText name="to" label="To" type="date" />
        <ClearFilters names={AUDIT_FILTERS} />
      </form>
      <ListFrame
        shown={executions}
        one="execution"
        what="executions"
        order="newest first"
        empty={
          Object.keys(filter).length > 0 ? (
            <p>No execution fits the filter. Clear it to see all of them.</p>
          ) : (
            <>
              <strong>Nothing was executed yet</strong>
              <p>Every order that a worker has done leaves a row here, and so does everything a person decides.</p>
            </>
          )
        }
      >
        {(items) => <ExecutionTable executions={items} list={rows} />}
      </ListFrame>
    </>
  );
}
