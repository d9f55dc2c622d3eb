import { useSignal, type Signal } from '@preact/signals';
import { DataTable, ROW, type Column } from '../../ui/row-table.js';
import { FileChanges } from '../../ui/file-changes.js';
import { Select } from '../../ui/form.js';
import { query, route } from '../../app/router.js';
import { OrderFormPage } from './order-form.js';
import { toPath } from '../../app/route.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../data/client.js';
import {
  StateBadge,
  listStateOptions,
  Badge,
  Loaded,
  Notice,
  UpToDate,
  InlineFailure,
  Link,
  Sentence,
} from '../../ui/parts.js';
import { ListPage, type Filter } from '../../ui/list-page.js';
import { Timestamp, formatCount, SafeText } from '../../ui/text.js';
import { useResource } from '../../data/resource.js';
import { loadIssue, OrderCard } from './order-card.js';
import { ChangeView } from '../inbox/change-view.js';
import { t } from './texts.js';
import { diffLines, type FileChange } from '../../../src/base/index.js';
import type { Change } from '../../../src/server/api/index.js';
import './issues.css';

export function IssuesPage() {
  const { value } = route;
  const ref = value.page === 'issues' ? value.ref : null;
  if (query.value.has('order')) return <OrderFormPage issueRef={ref} />;
  return ref === null ? <IssueList /> : <IssueView key={ref} issueRef={ref} />;
}

type Issue = Awaited<ReturnType<typeof client.listIssues>>['items'][number];

const FILTERS: readonly Filter[] = [
  { name: 'search', label: t.search, kind: 'search', placeholder: t.partOfTheReference },
  {
    name: 'state',
    label: t.state,
    kind: 'choice',
    options: listStateOptions(['needs-human', 'blocked', 'review', 'doing', 'todo', 'done']),
  },
];

const COLUMNS: readonly Column<Issue>[] = [
  { name: t.state, width: '10.4rem', cell: ({ state }) => <StateBadge state={state} /> },
  {
    name: t.issue,
    class: 'wide',
    cell: ({ issue_ref }) => <Link label={issue_ref} {...ROW} href={toPath({ page: 'issues', ref: issue_ref })} />,
  },
  { name: t.activeRun, width: '16rem', cell: ({ active_run_id }) => active_run_id ?? '' },
  { name: t.changed, width: '10rem', class: 'nowrap', cell: ({ updated_at }) => <Timestamp at={updated_at} /> },
];

function IssueList() {
  return (
    <ListPage
      title={t.pages.issues}
      itemName="issue"
      end={hasScope('run') ? <Link label={t.submitAnOrder} class="button primary" href="/issues?order" /> : undefined}
      filters={FILTERS}
      load={async (filterAndPage, signal) => client.listIssues({ query: filterAndPage, signal })}
      getKey={(issue) => issue.issue_ref}
      columns={COLUMNS}
      emptyTitle={t.noIssuesYet}
      emptyText={<Sentence text={t.anIssueAppearsWithIts(hasScope('run'))} />}
    />
  );
}

export function IssueView({ issueRef }: Readonly<{ issueRef: string }>) {
  const detail = useResource(`issue ${issueRef}`, async (signal) => loadIssue(client, issueRef, signal), {
    live: true,
  });
  const { value, failure } = detail;
  if (value === null) {
    return (
      <div class="stack">
        {failure === null ? null : <h1>{issueRef}</h1>}
        <Loaded resource={detail} title={t.cannotLoadTheIssue} hint={<a href="/issues">{t.allIssues}</a>} />
      </div>
    );
  }
  const { issue, inbox, history } = value;
  return (
    <>
      <div class="page-head">
        <h1>{issue.issue_ref}</h1>
        <StateBadge state={issue.state} />
        <span class="dim">
          {t.changedAt}
          <Timestamp at={issue.updated_at} />
        </span>
        <UpToDate failure={failure} />
        <span class="row end">
          <a href={`/executions?issue_ref=${encodeURIComponent(issueRef)}`}>{t.pages.executions}</a>
          <a href={`/outbox?issue_ref=${encodeURIComponent(issueRef)}`}>{t.pages.outbox}</a>
          {hasScope('run') ? (
            <Link label={t.submitAgain} class="button" href={`${toPath({ page: 'issues', ref: issueRef })}?order`} />
          ) : null}
        </span>
      </div>
      {inbox.length === 0 ? null : (
        <Notice tone="warn" title={t.resultsWaiting(inbox.length)}>
          <span class="row">
            {inbox.map((item) => (
              <a key={item.id} href={toPath({ page: 'inbox', id: item.id })}>
                {inbox.length === 1 ? t.openInTheInbox : item.run_id}
              </a>
            ))}
          </span>
        </Notice>
      )}
      <RaceView issueRef={issueRef} orders={value.orders} />
      <ol class="list stack" aria-label={t.ordersNewestFirst}>
        {history.map((entry) => (
          <li key={entry.runId}>
            <OrderCard history={entry} isActive={entry.runId === issue.active_run_id} />
          </li>
        ))}
      </ol>
    </>
  );
}

type Orders = Awaited<ReturnType<typeof client.getIssue>>['orders'];
type RaceResponse = Awaited<ReturnType<typeof client.getIssueRace>>;

/** The last race's runs side by side, each with its outcome and change. */
export function RaceView({ issueRef, orders }: Readonly<{ issueRef: string; orders: Orders }>) {
  const [newest] = orders;
  // The race is refetched when the state of one of its runs changes.
  const states = orders.map(({ state, decision }) => `${state} ${decision?.action ?? ''}`).join(',');
  if (newest?.group === undefined) return null;
  return <LoadedRace key={newest.group} issueRef={issueRef} states={states} />;
}

/** The last race; it stays while it is loaded again. */
function LoadedRace({ issueRef, states }: Readonly<{ issueRef: string; states: string }>) {
  const race = useResource(`race ${issueRef} ${states}`, async (signal) =>
    client.getIssueRace({ ref: issueRef, signal }),
  );
  const { failure, reload, last: value } = race;
  return (
    <section class="stack" aria-label={t.changesInThisRaceSide} aria-busy={value === null && failure === null}>
      <h2>{t.race}</h2>
      {failure === null ? null : <InlineFailure failure={failure} reload={reload} />}
      <p class="dim">{value === null ? t.loading : describeRace(value)}</p>
      {value === null ? null : <Candidates race={value} />}
    </section>
  );
}

function describeRace({ runs, winner }: RaceResponse): string {
  const open = runs.filter(({ decision }) => decision === null).length;
  if (winner !== null) return t.runsWon(runs.length, winner);
  if (open > 0) return t.runsOfThemNotDecided(runs.length, open);
  return t.runsWithoutAWinnerChoose(runs.length);
}

/** All candidates in one table, the difference between two of them, and the change of each. */
function Candidates({ race: { runs, winner } }: Readonly<{ race: RaceResponse }>) {
  const equal = findEqual(runs);
  return (
    <>
      <DataTable
        label={t.candidates}
        head={[t.run, t.wrapper, t.decision, t.states.added, t.states.removed, t.change]}
        numbersFrom={Infinity}
        rows={runs.map(({ run_id, worker, state, decision, inbox_id, change }) => [
          <>
            <strong>{run_id}</strong> {run_id === winner ? <Badge tone="good">{t.winner}</Badge> : null}
          </>,
          worker,
          <>
            <StateBadge state={decision?.action ?? state} isOver={inbox_id === null} />{' '}
            {inbox_id === null ? null : <a href={toPath({ page: 'inbox', id: inbox_id })}>{t.decideOnThisResult}</a>}
          </>,
          `+${formatCount(change.files.reduce((sum, file) => sum + file.added, 0))}`,
          `−${formatCount(change.files.reduce((sum, file) => sum + file.removed, 0))}`,
          equal.has(run_id) ? t.sameAs(equal.get(run_id) ?? '') : t.files(change.files.length),
        ])}
      />
      {runs.length < 2 ? null : <Comparison runs={runs} equal={equal} />}
      <div class="race">
        {runs.map(({ run_id, decision, change }) => (
          <div key={run_id} class="race-run stack">
            <div class="card stack">
              <h3>{run_id}</h3>
              <p>{decision === null ? t.notDecidedYet : <SafeText text={decision.reason} limit={500} />}</p>
            </div>
            {equal.has(run_id) ? (
              <p class="card">{t.sameChange(equal.get(run_id) ?? '')}</p>
            ) : (
              <ChangeView
                change={{ value: change, failure: null, reload: () => undefined }}
                review={READ_ONLY}
                label={t.changesIn(run_id)}
              />
            )}
          </div>
        ))}
      </div>
    </>
  );
}

type RacedRuns = RaceResponse['runs'];

/** The difference between two candidates, at first between those with different changes. */
function Comparison({ runs, equal }: Readonly<{ runs: RacedRuns; equal: ReadonlyMap<string, string> }>) {
  const [first, second] = [
    ...runs.filter(({ run_id }) => !equal.has(run_id)),
    ...runs.filter((run) => equal.has(run.run_id)),
  ];
  const ids = { one: useSignal(first?.run_id ?? ''), other: useSignal(second?.run_id ?? '') };
  const [one, other] = [ids.one, ids.other].map((id) => runs.find(({ run_id }) => run_id === id.value)?.change);
  const changes = one === undefined || other === undefined ? [] : compareChanges(one, other);
  const choice = (id: Signal<string>, label: string) => (
    <Select
      label={label}
      value={id.value}
      options={runs.map(({ run_id }) => run_id)}
      onChange={(next) => (id.value = next)}
    />
  );
  return (
    <section class="card stack" aria-label={t.differenceBetweenTwoCandidates}>
      <div class="row">
        <h3>{t.difference}</h3>
        {t.from}
        {choice(ids.one, t.firstCandidate)}
        {t.to}
        {choice(ids.other, t.secondCandidate)}
      </div>
      {changes.length === 0 ? <p class="dim">{t.bothLeaveTheSameFiles}</p> : <FileChanges changes={changes} />}
    </section>
  );
}

const READ_ONLY = { comments: [], setComment: null };

type ChangedFile = Change['files'][number];
type RunChange = Readonly<{ run_id: string; change: Change }>;

/** Finds runs with the same change: each maps to the first run that has it. Binary and truncated changes are unknown. */
export function findEqual(runs: readonly RunChange[]): ReadonlyMap<string, string> {
  const firstRuns = new Map<string, string>();
  const equal = new Map<string, string>();
  for (const { run_id, change } of runs) {
    if (change.files.length === 0 || change.truncated || change.files.some(isUnknown)) continue;
    const key = JSON.stringify(
      change.files
        .toSorted((one, other) => one.path.localeCompare(other.path))
        .map(({ path, old_path, change: kind, hunks }) => [path, old_path, kind, hunks.map(({ lines }) => lines)]),
    );
    const first = firstRuns.get(key);
    if (first === undefined) firstRuns.set(key, run_id);
    else equal.set(run_id, first);
  }
  return equal;
}

function isUnknown({ binary, truncated }: ChangedFile): boolean {
  return binary || truncated;
}

/**
 * Compares the files as two runs left them, which both started from the same commit. A change has only the lines around
 * its edits: where one run has edited and the other has not, the other still has the lines of the commit.
 */
export function compareChanges(one: Change, other: Change): readonly FileChange[] {
  const paths = [...new Set([...one.files, ...other.files].map(({ path }) => path))].toSorted();
  return paths.flatMap((path): readonly FileChange[] => {
    const [left, right] = [one, other].map(({ files }) => files.find((file) => file.path === path));
    if ([left, right].some((file) => file !== undefined && isUnknown(file))) {
      return [{ path, lines: [], isPartial: true }];
    }
    const base = new Map([...listBase(left), ...listBase(right)]);
    const lines = diffLines(render(left, base), render(right, base));
    return lines.some(({ kind }) => kind !== 'same') ? [{ path, lines }] : [];
  });
}

function listBase(file: ChangedFile | undefined): readonly (readonly [number, string])[] {
  const lines = file?.hunks.flatMap((hunk) => hunk.lines) ?? [];
  return lines.flatMap(({ old_line, text }) => (old_line === null ? [] : [[old_line, text] as const]));
}

function render(file: ChangedFile | undefined, base: ReadonlyMap<number, string>): string {
  const removed = new Set<number>();
  /** Added lines by the number of the line before them; 0 for the start of the file. */
  const added = new Map<number, string[]>();
  for (const { lines } of file?.hunks ?? []) {
    const first = lines.find(({ old_line }) => old_line !== null)?.old_line ?? 1;
    let before = first - 1;
    for (const { kind, old_line, text } of lines) {
      if (old_line !== null) before = old_line;
      if (kind === 'removed' && old_line !== null) removed.add(old_line);
      if (kind === 'added') added.set(before, [...(added.get(before) ?? []), text]);
    }
  }
  const numbers = [...new Set([0, ...base.keys(), ...added.keys()])].toSorted((one, other) => one - other);
  return numbers
    .flatMap((number) => {
      const text = base.get(number);
      return [...(text === undefined || removed.has(number) ? [] : [text]), ...(added.get(number) ?? [])];
    })
    .join('\n');
}
