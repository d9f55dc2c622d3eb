import { ROW, type Column } from '../../ui/row-table.js';
import { query, route } from '../../app/router.js';
import { OrderFormPage } from './order-form.js';
import { toPath } from '../../app/route.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../data/client.js';
import { StateBadge, listStateOptions, Badge } from '../../ui/badge.js';
import { ListPage, type Filter } from '../../ui/list-page.js';
import { Timestamp, formatCount } from '../../ui/format.js';
import { useResource } from '../../data/resource.js';
import { Loaded, Notice, UpToDate, InlineFailure } from '../../ui/notice.js';
import { loadIssue, OrderCard } from './order-card.js';
import { useRef } from 'preact/hooks';
import { SafeText } from '../../ui/safe-text.js';
import { ChangeView } from '../inbox/change-view.js';
import { Link } from '../../ui/button.js';
import './issues.css';

/** The list of issues, one issue with its history, or the form for a new order. */
export function IssuesPage() {
  const { value } = route;
  const ref = value.page === 'issues' ? value.ref : null;
  if (query.value.has('order')) return <OrderFormPage issueRef={ref} />;
  return ref === null ? <IssueList /> : <IssueView key={ref} issueRef={ref} />;
}

type Issue = Awaited<ReturnType<typeof client.listIssues>>['items'][number];

const FILTERS: readonly Filter[] = [
  { name: 'search', label: 'Search', kind: 'search', placeholder: 'Part of the reference' },
  {
    name: 'state',
    label: 'State',
    kind: 'choice',
    options: listStateOptions(['needs-human', 'blocked', 'review', 'doing', 'todo', 'done']),
  },
];

const COLUMNS: readonly Column<Issue>[] = [
  { name: 'State', width: '9rem', cell: ({ state }) => <StateBadge state={state} /> },
  {
    name: 'Issue',
    class: 'wide',
    cell: ({ issue_ref }) => <Link label={issue_ref} {...ROW} href={toPath({ page: 'issues', ref: issue_ref })} />,
  },
  { name: 'Active run', width: '16rem', cell: ({ active_run_id }) => active_run_id ?? '' },
  { name: 'Changed', width: '10rem', class: 'nowrap', cell: ({ updated_at }) => <Timestamp at={updated_at} /> },
];

function IssueList() {
  return (
    <ListPage
      title="Issues"
      itemName="issue"
      end={hasScope('run') ? <Link label="Submit an order" class="button primary" href="/issues?order" /> : undefined}
      filters={FILTERS}
      load={async (filterAndPage, signal) => client.listIssues({ query: filterAndPage, signal })}
      getKey={(issue) => issue.issue_ref}
      columns={COLUMNS}
      emptyTitle="No issues yet"
      emptyText={
        <>
          An issue appears with its first order.{' '}
          {hasScope('run') ? (
            <>
              <a href="/issues?order">Submit an order here</a>, or with
            </>
          ) : (
            'Submit an order with'
          )}{' '}
          <code>sluice order FILE</code>.
        </>
      }
    />
  );
}

/** An issue's state and history. */
export function IssueView({ issueRef }: Readonly<{ issueRef: string }>) {
  const detail = useResource(`issue ${issueRef}`, async (signal) => loadIssue(client, issueRef, signal), {
    live: true,
  });
  const { value, failure } = detail;
  if (value === null) {
    return (
      <div class="stack">
        {failure === null ? null : <h1>{issueRef}</h1>}
        <Loaded resource={detail} title="Cannot load the issue" hint={<a href="/issues">All issues</a>}>
          {() => null}
        </Loaded>
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
          Changed <Timestamp at={issue.updated_at} />
        </span>
        <UpToDate failure={failure} />
        <span class="row end">
          <a href={`/executions?issue_ref=${encodeURIComponent(issueRef)}`}>Executions</a>
          <a href={`/outbox?issue_ref=${encodeURIComponent(issueRef)}`}>Outbox</a>
          {hasScope('run') ? (
            <Link label="Submit again" class="button" href={`${toPath({ page: 'issues', ref: issueRef })}?order`} />
          ) : null}
        </span>
      </div>
      {inbox.length === 0 ? null : (
        <Notice
          tone="warn"
          title={
            inbox.length === 1
              ? 'A result is waiting for a decision'
              : `${inbox.length} results are waiting for a decision`
          }
        >
          <span class="row">
            {inbox.map((item) => (
              <a key={item.id} href={toPath({ page: 'inbox', id: item.id })}>
                {inbox.length === 1 ? 'Open in the inbox' : item.run_id}
              </a>
            ))}
          </span>
        </Notice>
      )}
      <RaceView issueRef={issueRef} orders={value.orders} />
      <ol class="stack orders" aria-label="Orders, newest first">
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

function LoadedRace({ issueRef, states }: Readonly<{ issueRef: string; states: string }>) {
  const race = useResource(`race ${issueRef} ${states}`, async (signal) =>
    client.getIssueRace({ ref: issueRef, signal }),
  );
  const { failure, reload } = race;
  // The last data stays until the next response arrives.
  const last = useRef<RaceResponse | null>(null);
  last.current = race.value ?? last.current;
  const value = last.current;
  return (
    <section
      class="stack"
      aria-label="Changes in this race, side by side"
      aria-busy={value === null && failure === null}
    >
      <h2>Race</h2>
      {failure === null ? null : <InlineFailure failure={failure} reload={reload} />}
      <p class="dim">{value === null ? 'Loading …' : describeRace(value)}</p>
      <div class="race">
        {value?.runs.map((run) => (
          <RacedRun key={run.run_id} run={run} isWinner={run.run_id === value.winner} />
        ))}
      </div>
    </section>
  );
}

function describeRace({ runs, winner }: RaceResponse): string {
  const open = runs.filter(({ decision }) => decision === null).length;
  if (winner !== null) return `${runs.length} runs; ${winner} won.`;
  if (open > 0) return `${runs.length} runs, ${open} of them not decided yet.`;
  return `${runs.length} runs without a winner. Choose the result to accept.`;
}

function RacedRun({ run, isWinner }: Readonly<{ run: RaceResponse['runs'][number]; isWinner: boolean }>) {
  const { run_id, worker, state, decision, inbox_id, change } = run;
  const addedLines = change.files.reduce((sum, file) => sum + file.added, 0);
  const removed = change.files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <div class="race-run stack">
      <div class="card stack">
        <div class="row">
          <h3>{run_id}</h3>
          {isWinner ? <Badge tone="good">Winner</Badge> : null}
          <StateBadge state={decision?.action ?? state} />
          <span class="dim end">
            {worker}, +{formatCount(addedLines)} −{formatCount(removed)}
          </span>
        </div>
        <p>{decision === null ? 'Not decided yet.' : <SafeText text={decision.reason} limit={500} />}</p>
        {inbox_id === null ? null : (
          <p>
            <a href={toPath({ page: 'inbox', id: inbox_id })}>Decide on this result</a>
          </p>
        )}
      </div>
      <ChangeView
        change={{ value: change, failure: null, reload: () => undefined }}
        review={READ_ONLY}
        label={`Changes in ${run_id}`}
      />
    </div>
  );
}

const READ_ONLY = { comments: [], setComment: null };
