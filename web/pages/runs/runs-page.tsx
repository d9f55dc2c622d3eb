import { useEffect, useState } from 'preact/hooks';
import type { ComponentType } from 'preact';
import { query } from '../../app/router.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { FilterChoice, FilterText } from '../../ui/filter-field.js';
import { ListPage } from '../../ui/list-page.js';
import { Loading } from '../../ui/notice.js';
import { readRunFilter, runFilters } from './run-filter.js';
import { RunTable } from './run-table.js';

/** Runs as they happen, and the way to start one. */
export function RunsPage() {
  return query.value.has('start') ? <StartRun /> : <RunList />;
}

function RunList() {
  const offer = useResource('engines', async (signal) => client.listEngines({ signal }));
  const chosen = query.value.get('engine');
  const known = offer.value?.engines.map(({ name }) => name) ?? [];
  // The engine in the query is offered even before the list of engines is loaded, or if it is not in it.
  const filters = runFilters([...new Set([...known, ...(chosen === null ? [] : [chosen])])]);
  return (
    <ListPage
      title="Runs"
      one="run"
      what="runs"
      end={
        hasScope('run') ? (
          <a class="button" href="/runs?start">
            Start a run
          </a>
        ) : undefined
      }
      filter={readRunFilter(query.value)}
      names={['search', ...filters.map(({ name }) => name)]}
      fields={
        <>
          <FilterText name="search" label="Search" type="search" placeholder="id, issue, folder, engine, prompt" />
          {filters.map(({ name, label, options }) => (
            <FilterChoice key={name} name={name} label={label} options={options} />
          ))}
        </>
      }
      load={async (asked, signal) => client.listRuns({ query: asked, signal })}
      getKey={(run) => run.id}
      nothingYet={
        <>
          <strong>No runs yet</strong>
          <p>
            A run is one agent working on one prompt.{' '}
            {hasScope('run') ? <a href="/runs?start">Start one here</a> : 'Start one'} or with{' '}
            <code>sluice run --engine codex "…"</code>; it appears here automatically.
          </p>
        </>
      }
    >
      {(runs, list) => <RunTable runs={runs} list={list} />}
    </ListPage>
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
        <h1>{query.value.has('from') ? 'Edit and run' : 'Start a run'}</h1>
        <a class="end" href="/runs">
          All runs
        </a>
      </div>
      {Form === null ? <Loading /> : <Form />}
    </>
  );
}
