import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentType } from 'preact';
import { query } from '../../app/router.js';
import { may } from '../../app/session.js';
import { client } from '../../server/client.js';
import { useLiveList } from '../../server/use-live-list.js';
import { ClearFilters, FilterChoice, FilterText } from '../../ui/filter-field.js';
import { ListFrame } from '../../ui/list-frame.js';
import { isReading, useRowKeys } from '../../ui/use-row-keys.js';
import { FILTERS, readRunFilter } from './run-filter.js';
import { RunTable } from './run-table.js';
import './runs.css';

/** Runs as they happen, and the way to start one. */
export function RunsPage() {
  return query.value.has('start') ? <StartRun /> : <RunList />;
}

function RunList() {
  const rows = useRef<HTMLTableSectionElement>(null);
  const filter = readRunFilter(query.value);
  const runs = useLiveList(
    JSON.stringify(filter),
    async (page, signal) => client.listRuns({ query: { ...filter, ...page }, signal }),
    (run) => run.id,
    () => isReading(rows.current),
  );
  useRowKeys(rows);
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <div class="page-head">
        <h1>Runs</h1>
        {may('run') ? (
          <a class="button end" href="/runs?start">
            Start a run
          </a>
        ) : null}
      </div>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <FilterText name="search" label="Search" type="search" placeholder="prompt, folder, issue, id" />
        {FILTERS.map(({ name, label, options }) => (
          <FilterChoice key={name} name={name} label={label} options={options} />
        ))}
        <ClearFilters names={['search', ...FILTERS.map(({ name }) => name)]} />
      </form>
      <ListFrame
        shown={runs}
        one="run"
        what="runs"
        order="newest first"
        empty={isFiltered ? <NothingFits /> : <NothingYet />}
      >
        {(items) => <RunTable runs={items} list={rows} />}
      </ListFrame>
    </>
  );
}

function NothingFits() {
  return <p>No run fits the filter. Clear it to see all of them.</p>;
}

function NothingYet() {
  return (
    <>
      <strong>No runs yet</strong>
      <p>
        A run is an agent at work on one prompt. {may('run') ? <a href="/runs?start">Start one here</a> : 'Start one'}{' '}
        or with <code>sluice run --engine codex "…"</code>; it appears by itself.
      </p>
    </>
  );
}

/** The form is loaded when it is opened: most who look at the list do not start anything. */
function StartRun() {
  const [Form, setForm] = useState<ComponentType | null>(null);
  useEffect(() => {
    void import('./start-run.js').then(({ StartRunForm }) => setForm(() => StartRunForm));
  }, []);
  return (
    <>
      <div class="page-head">
        <h1>Start a run</h1>
        <a class="end" href="/runs">
          All runs
        </a>
      </div>
      {Form === null ? (
        <p class="loading" aria-busy="true">
          Loading …
        </p>
      ) : (
        <Form />
      )}
    </>
  );
}
