import { useSignal } from '@preact/signals';
import type { Client } from '../../../src/server/client/index.js';
import { lazy } from '../../app/lazy.js';
import { query, setQuery } from '../../app/router.js';
import { hasScope } from '../../app/session.js';
import { isObject, parseStored, readStored, writeStored } from '../../app/storage.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { listStateOptions, Loading, PageNotLoaded, Button, Link, Sentence } from '../../ui/parts.js';
import { formatCount, formatMoment, formatTimeZone, SafeText } from '../../ui/text.js';
import { clearFilters, ListPage, readFilters, type Filter } from '../../ui/list-page.js';
import { columns, describeTotals, listColumns, OPTIONAL, OPTIONAL_COLUMNS, toggleColumn } from './run-table.js';
import { t } from './texts.js';
import type { TargetedKeyboardEvent } from 'preact';
import type { StatisticsView } from '../../../src/server/api/index.js';
import { buildStatisticsQuery, selectEngine } from '../../data/period.js';
import './runs.css';

type RunQuery = NonNullable<NonNullable<Parameters<Client['listRuns']>[0]>['query']>;

const COUNT_MS = 30_000;

export function RunsPage() {
  if (!query.value.has('start')) return <RunList />;
  return (
    <>
      <div class="page-head">
        <h1>{query.value.has('from') ? t.editAndRun : t.startARun}</h1>
        <Link label={t.allRuns} class="end" href="/runs" />
      </div>
      <StartRunForm />
    </>
  );
}

/** Lists the filters. The engine in the query is always an option, even if the engines are not loaded yet. */
function listRunFilters(engines: readonly string[]): readonly Filter[] {
  return [
    { name: 'search', label: t.search, kind: 'search', placeholder: t.promptAnswerErrorFolderIssueId },
    {
      name: 'state',
      label: t.state,
      kind: 'choice',
      options: listStateOptions(['queued', 'running', 'waiting', 'ended']),
    },
    {
      name: 'outcome',
      label: t.outcome,
      kind: 'choice',
      options: listStateOptions(['success', 'failed', 'canceled', 'comment']),
    },
    { name: 'engine', label: t.states.engine, kind: 'choice', options: engines, isOpen: true },
    {
      name: 'repair_level',
      label: t.repair,
      kind: 'choice',
      options: Object.entries(t.levels).map(([value, label]) => ({ value, label })),
    },
    { name: 'since', label: null, kind: 'from' },
    { name: 'until', label: null, kind: 'to' },
    { name: 'ended_since', label: null, kind: 'from' },
    { name: 'ended_until', label: null, kind: 'to' },
    { name: 'model', label: null, kind: 'text' },
    { name: 'engine_version', label: null, kind: 'text' },
  ];
}

export function readRunFilter(address: URLSearchParams): RunQuery {
  return readFilters(listRunFilters([]), address);
}

function RunList() {
  const engines = useResource('engines', async (signal) => client.listEngines({ signal }));
  const selectedEngine = query.value.get('engine');
  const engineNames = engines.value?.engines.map(({ name }) => name) ?? [];
  const filters = listRunFilters([...new Set([...engineNames, ...(selectedEngine === null ? [] : [selectedEngine])])]);
  const filter = readRunFilter(query.value);
  // Apart from the list, which is loaded more often.
  const counted = useResource(
    JSON.stringify({ count: filter }),
    async (signal) => client.listRuns({ query: { ...filter, total: 'true', limit: 1 }, signal }),
    { everyMs: COUNT_MS },
  );
  const total = counted.value?.total ?? 0;
  return (
    <ListPage
      title={t.pages.runs}
      itemName="run"
      end={hasScope('run') ? <Link label={t.startARun} class="button primary" href="/runs?start" /> : undefined}
      filters={filters}
      isDense
      beside={
        <>
          <Chips />
          <ViewBar />
        </>
      }
      below={<OutcomeStrip />}
      load={async (filterAndPage, signal) => client.listRuns({ query: filterAndPage, signal })}
      getKey={(run) => run.id}
      columns={listColumns()}
      summarize={(runs) =>
        `${total > runs.length ? t.inAll(formatCount(total), formatCount(runs.length)) : ''}${describeTotals(runs)}`
      }
      emptyTitle={t.noRunsYet}
      emptyText={<Sentence text={t.aRunIsOneAgent(hasScope('run'))} />}
    />
  );
}

/** Lists the filters without a field that are set; links from charts set them. */
export function listChips(filter: RunQuery): readonly Readonly<{ text: string; names: readonly string[] }>[] {
  const { since, until, ended_since: endedSince, ended_until: endedUntil, model, engine_version: version } = filter;
  const created = formatBounds(since, until);
  const ended = formatBounds(endedSince, endedUntil);
  return [
    ...(created === '' ? [] : [{ text: t.created(created, formatTimeZone(new Date())), names: ['since', 'until'] }]),
    ...(ended === '' ? [] : [{ text: t.ended(ended), names: ['ended_since', 'ended_until'] }]),
    ...(model === undefined ? [] : [{ text: t.model(model), names: ['model'] }]),
    ...(version === undefined ? [] : [{ text: t.version(version), names: ['engine_version'] }]),
  ];
}

function formatBounds(since: string | undefined, until: string | undefined): string {
  const from = since === undefined ? '' : t.since(formatMoment(since, null));
  return from + (until === undefined ? '' : t.until(formatMoment(until, null)));
}

function Chips() {
  return (
    <>
      {listChips(readRunFilter(query.value)).map(({ text, names }) => (
        <span key={text} class="chip set">
          <SafeText text={text} limit={120} />
          <Button
            label="×"
            class="link"
            aria-label={t.removeTheFilter(text.slice(0, 120))}
            onClick={() => clearFilters(names)}
          />
        </span>
      ))}
    </>
  );
}

const StartRunForm = lazy(async () => (await import('./start-run.js')).StartRunForm, {
  loading: <Loading />,
  failed: <PageNotLoaded />,
});

const BUILT_IN: readonly SavedView[] = [
  { name: t.failedToday, query: 'outcome=failed&since=today' },
  { name: t.failedYesterday, query: 'outcome=failed&since=yesterday&until=yesterday' },
  { name: t.states.running, query: 'state=running' },
];

function ViewBar() {
  const views = useSignal(readViews(readStored(VIEWS_KEY)));
  const name = useSignal<string | null>(null);
  const isChoosing = useSignal(false);
  const current = query.value.toString();
  const store = (next: readonly SavedView[]): void => {
    views.value = next;
    writeStored(VIEWS_KEY, JSON.stringify(next));
  };
  return (
    <div class="view-bar">
      <nav class="row" aria-label={t.views}>
        {[...BUILT_IN, ...views.value].map((view, index) => (
          <span key={view.name} class={view.query === current ? 'chip set' : 'chip'}>
            <a href={`/runs?${view.query}`} aria-current={view.query === current ? 'true' : undefined}>
              <SafeText text={view.name} />
            </a>
            {index < BUILT_IN.length ? null : (
              <Button
                label="×"
                class="link"
                aria-label={t.removeTheView(view.name)}
                onClick={() => store(views.value.filter((saved) => saved !== view))}
              />
            )}
          </span>
        ))}
        {name.value === null ? (
          <Button label={t.saveView} class="link" hidden={current === ''} onClick={() => (name.value = '')} />
        ) : (
          <form
            class="row"
            onSubmit={(event) => {
              event.preventDefault();
              if (name.value === null || name.value.trim() === '') return;
              store(putView(views.value, { name: name.value, query: current }));
              name.value = null;
            }}
          >
            <input
              type="text"
              aria-label={t.viewName}
              placeholder={t.name}
              maxLength={60}
              value={name.value}
              ref={(field) => field?.focus()}
              onInput={({ currentTarget }) => (name.value = currentTarget.value)}
            />
            <button type="submit">{t.save}</button>
            <Button label={t.cancel} onClick={() => (name.value = null)} />
          </form>
        )}
      </nav>
      <details class="column-choice" onToggle={({ currentTarget }) => (isChoosing.value = currentTarget.open)}>
        <summary>{t.columns}</summary>
        <div class="column-list popup">
          {(isChoosing.value ? OPTIONAL_COLUMNS : []).map((column) => (
            <label key={column} class="row">
              <input type="checkbox" checked={columns.value.includes(column)} onChange={() => toggleColumn(column)} />
              {OPTIONAL[column].name}
            </label>
          ))}
        </div>
      </details>
    </div>
  );
}

type SavedView = Readonly<{ name: string; query: string }>;
const VIEWS_KEY = 'sluice.views';
const MAX_VIEWS = 30;
const MAX_NAME_LENGTH = 60;
/** Enough for a search of 200 characters, each escaped to up to nine. */
const MAX_QUERY_LENGTH = 4000;

export function readViews(stored: string | null): readonly SavedView[] {
  const list = parseStored(stored);
  return Array.isArray(list) ? list.filter(isView).slice(0, MAX_VIEWS) : [];
}

function isView(value: unknown): value is SavedView {
  if (!isObject(value)) return false;
  const { name, query: filters } = value;
  return typeof name === 'string' && typeof filters === 'string' && filters.length <= MAX_QUERY_LENGTH;
}

export function putView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  const name = view.name.trim().slice(0, MAX_NAME_LENGTH);
  if (name === '') return views;
  return [...views.filter((known) => known.name !== name), { ...view, name }].slice(-MAX_VIEWS);
}

const LENGTH_S = 7 * 86_400;
const STEP_S = 3 * 3600;
const RELOAD_MS = 60_000;
const BAR_COUNT = LENGTH_S / STEP_S;

type Bar = ReturnType<typeof listBars>[number];

export function listBars({ buckets, step_s }: StatisticsView) {
  return buckets.map(({ at, runs }) => {
    const bar = { success: 0, failed: 0, other: 0 };
    for (const { outcomes } of runs) {
      bar.success += outcomes.success;
      bar.failed += outcomes.failed;
      bar.other += outcomes.canceled + outcomes.comment;
    }
    return { from: at, to: new Date(Date.parse(at) + step_s * 1000).toISOString(), ...bar };
  });
}

/** The outcomes of the last days. Dragging over bars, or Shift and the arrow keys, selects the runs that ended then. */
function OutcomeStrip() {
  const statistics = useResource(
    'outcomes',
    async (signal) => client.readStatistics({ query: buildStatisticsQuery(LENGTH_S, STEP_S, Date.now()), signal }),
    { everyMs: RELOAD_MS },
  );
  const bars = statistics.value === null ? [] : listBars(selectEngine(statistics.value, query.value.get('engine')));
  const sum = (read: (bar: Bar) => number): number => bars.reduce((total, bar) => total + read(bar), 0);
  const failed = sum((bar) => bar.failed);
  const total = failed + sum((bar) => bar.success + bar.other);
  return (
    <div class="outcome-strip">
      <p>
        <strong>{bars.length === 0 ? ' ' : t.endedFailed(formatCount(total), formatCount(failed))}</strong>
        {t.in7DaysDragTo}
      </p>
      <Bars bars={bars} />
    </div>
  );
}

function Bars({ bars }: Readonly<{ bars: readonly Bar[] }>) {
  const anchor = useSignal<number | null>(null);
  const end = useSignal<number | null>(null);
  const focused = useSignal(BAR_COUNT - 1);
  const highest = Math.max(1, ...bars.map(({ success, failed, other }) => success + failed + other));
  const [since, until] = [query.value.get('ended_since') ?? '', query.value.get('ended_until') ?? ''];
  const isDragged = anchor.value !== null && end.value !== null;
  const [first, last] = [Math.min(anchor.value ?? 0, end.value ?? 0), Math.max(anchor.value ?? 0, end.value ?? 0)];
  const isChosen = ({ from, to }: Bar, index: number): boolean =>
    isDragged ? index >= first && index <= last : from < until && to > since;
  const select = (): void => {
    const [start, stop] = [bars[first], bars[last]];
    if (isDragged && start !== undefined && stop !== undefined)
      setQuery({ ended_since: start.from, ended_until: stop.to }, { isStep: true });
    anchor.value = null;
    end.value = null;
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    if (event.shiftKey) anchor.value ??= focused.value;
    else anchor.value = null;
    focused.value = Math.max(0, Math.min(bars.length - 1, focused.value + step));
    end.value = anchor.value === null ? null : focused.value;
    const { children } = event.currentTarget;
    const target = children[focused.value];
    if (target instanceof HTMLElement) target.focus();
  };
  return (
    <div
      class="outcome-bars"
      role="group"
      aria-label={t.endedRunsByTime}
      onKeyDown={onKeyDown}
      onKeyUp={({ key }) => (key === 'Shift' ? select() : undefined)}
      onPointerUp={select}
      onPointerLeave={select}
      onPointerCancel={() => (anchor.value = null)}
    >
      {bars.map((bar, index) => (
        <button
          key={bar.from}
          type="button"
          tabIndex={index === Math.min(focused.value, bars.length - 1) ? 0 : -1}
          aria-pressed={isChosen(bar, index)}
          aria-label={describeBar(bar)}
          title={describeBar(bar)}
          onPointerDown={(event) => {
            event.currentTarget.releasePointerCapture(event.pointerId);
            [anchor.value, end.value] = [index, index];
          }}
          onPointerEnter={() => (anchor.value === null ? undefined : (end.value = index))}
          onClick={() => setQuery({ ended_since: bar.from, ended_until: bar.to }, { isStep: true })}
        >
          {(['failed', 'other', 'success'] as const).map((kind) =>
            bar[kind] === 0 ? null : (
              <span key={kind} class={kind} style={{ height: `${Math.max(4, (bar[kind] / highest) * 100)}%` }} />
            ),
          )}
        </button>
      ))}
    </div>
  );
}

function describeBar({ from, success, failed, other }: Bar): string {
  const counts = [t.succeeded(success), t.failed(failed), ...(other === 0 ? [] : [t.other(other)])];
  return `${formatMoment(from, null)}: ${counts.join(', ')}`;
}
