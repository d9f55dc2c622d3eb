import { useEffect, useState } from 'preact/hooks';
import type { ComponentType } from 'preact';
import { query, setQuery } from '../../app/router.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { FilterChoice, FilterDate, FilterText } from '../../ui/filter-field.js';
import { ListPage } from '../../ui/list-page.js';
import { Loading, PageNotLoaded } from '../../ui/notice.js';
import { SafeText } from '../../ui/safe-text.js';
import { CHIP_NAMES, formatBound, listChips, readRunFilter, listRunFilters } from './run-filter.js';
import { describeTotals, RunTable } from './run-table.js';
import { ViewBar } from './view-bar.js';
import './runs.css';

/** The list of runs, or the form that starts one. */
export function RunsPage() {
  return query.value.has('start') ? <StartRun /> : <RunList />;
}

function RunList() {
  const engines = useResource('engines', async (signal) => client.listEngines({ signal }));
  const selectedEngine = query.value.get('engine');
  const engineNames = engines.value?.engines.map(({ name }) => name) ?? [];
  // The engine in the query is always an option, even if the list of engines does not contain it or is not loaded yet.
  const filters = listRunFilters([...new Set([...engineNames, ...(selectedEngine === null ? [] : [selectedEngine])])]);
  return (
    <ListPage
      title="Runs"
      itemName="run"
      itemsName="runs"
      end={
        hasScope('run') ? (
          <a class="button primary" href="/runs?start">
            Start a run
          </a>
        ) : undefined
      }
      filter={readRunFilter(query.value)}
      names={['search', 'since', 'until', ...filters.map(({ name }) => name), ...CHIP_NAMES]}
      below={
        <>
          <Chips />
          <ViewBar />
        </>
      }
      fields={
        <>
          <FilterText name="search" label="Search" type="search" placeholder="Prompt, error, folder, issue, ID" />
          {filters.map(({ name, label, options }) => (
            <FilterChoice key={name} name={name} label={label} options={options} />
          ))}
          <FilterDate name="since" label="From" format={(value) => formatBound(value, Date.now())} />
          <FilterDate name="until" label="To" format={(value) => formatBound(value, Date.now())} />
        </>
      }
      load={async (filterAndPage, signal) => client.listRuns({ query: filterAndPage, signal })}
      getKey={(run) => run.id}
      summarize={describeTotals}
      emptyState={
        <>
          <strong>No runs yet</strong>
          <p>
            A run is one agent working on one prompt.{' '}
            {hasScope('run') ? (
              <>
                <a href="/runs?start">Start a run here</a>, or with
              </>
            ) : (
              'Start a run with'
            )}{' '}
            <code>sluice run --engine codex "…"</code>. It appears here automatically.
          </p>
        </>
      }
    >
      {(runs, list) => <RunTable runs={runs} list={list} />}
    </ListPage>
  );
}

/** Filters without a field, each with a button that removes it. */
function Chips() {
  const chips = listChips(readRunFilter(query.value));
  if (chips.length === 0) return null;
  return (
    <ul class="chips" aria-label="Other filters">
      {chips.map(({ text, names }) => (
        <li key={text} class="view">
          <SafeText text={text} limit={120} />
          <button
            type="button"
            class="link"
            aria-label={`Remove the filter ${text.slice(0, 120)}`}
            onClick={() => setQuery(Object.fromEntries(names.map((name) => [name, null])), { isStep: true })}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Loads the form when it is opened: most visitors do not need it. */
function StartRun() {
  const [Form, setForm] = useState<ComponentType | null>(null);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    import('./start-run.js').then(
      ({ StartRunForm }) => setForm(() => StartRunForm),
      () => setFailed(true),
    );
  }, []);
  return (
    <>
      <div class="page-head">
        <h1>{query.value.has('from') ? 'Edit and run' : 'Start a run'}</h1>
        <a class="end" href="/runs">
          All runs
        </a>
      </div>
      {Form !== null ? <Form /> : hasFailed ? <PageNotLoaded /> : <Loading />}
    </>
  );
}
