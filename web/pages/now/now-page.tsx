import type { ComponentChildren } from 'preact';
import type { RunSummary } from '../../../src/server/api/index.js';
import { client, getServerTime } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { deadWorkers, formatWaiting, getEntryPath, getEntryText, getEntryTitle, waiting } from '../../data/waiting.js';
import { Badge, Link, InlineFailure, Loaded } from '../../ui/parts.js';
import { RunLink } from '../../ui/facts.js';
import { formatCost, formatWait, Timestamp, toOneLine, SafeText } from '../../ui/text.js';
import { Redelivery } from '../../ui/redelivery.js';
import { LastTick, Meter, nameBudget, NextTick, computePercent, Fate, nameWorker, summarizeCost } from './now-parts.js';
import './now.css';
import { t } from './texts.js';

const DAY_MS = 86_400_000;
const COMPARED_DAYS = 7;
/** The number of rows of a card; its link leads to the rest. */
const ROWS = 6;

async function loadNow(signal: AbortSignal) {
  const today = Math.floor(getServerTime() / DAY_MS) * DAY_MS;
  const since = new Date(today - COMPARED_DAYS * DAY_MS).toISOString();
  // Days of runs are local, as in their list; days of budgets are those of UTC.
  const yesterday = new Date(getServerTime());
  yesterday.setHours(-24, 0, 0, 0);
  const failedSince = { outcome: 'failed', since: yesterday.toISOString() } as const;
  const [running, failed, sinks, budgets, schedules, statistics] = await Promise.all([
    client.listRuns({ query: { state: 'running', limit: ROWS + 1 }, signal }),
    client.listRuns({ query: { ...failedSince, limit: ROWS + 1 }, signal }),
    client.listSinks({ signal }),
    client.listBudgets({ signal }),
    client.listSchedules({ signal }),
    client.readStatistics({ query: { since, step: DAY_MS / 1000 }, signal }),
  ]);
  return {
    running: running.items,
    failed: failed.items,
    sinks: sinks.items.filter(({ state }) => state !== 'waiting'),
    budgets: budgets.items
      .map((budget) => ({ budget, percent: computePercent(budget) }))
      .toSorted((one, other) => other.percent - one.percent),
    schedules: schedules.items.toSorted((one, other) => (one.next_at ?? '9').localeCompare(other.next_at ?? '9')),
    cost: summarizeCost(statistics.buckets),
  };
}

/** How often the page is loaded again; waiting entries and workers are polled for all pages. */
const RELOAD_MS = 10_000;

/** The first page of an operator: what waits, what runs, what fails, and what comes next. */
export function NowPage() {
  const now = useResource('now', loadNow, { everyMs: RELOAD_MS });
  const { value, failure, reload } = now;
  return (
    <>
      <div class="page-head">
        <h1>{t.pages.now}</h1>
        {failure === null || value === null ? null : <InlineFailure failure={failure} reload={reload} />}
      </div>
      {/* All cards appear together, so none of them moves. */}
      {value === null || waiting.value === null ? (
        <Loaded resource={{ value: null, failure, reload }} title={t.cannotLoadThePage} space="list" />
      ) : (
        <Cards {...value} />
      )}
    </>
  );
}

function Cards({ running, failed, sinks, budgets, schedules, cost }: Awaited<ReturnType<typeof loadNow>>) {
  const list = waiting.value;
  const died = deadWorkers.value;
  return (
    <div class="now">
      <div>
        <Card title={t.waitingForYou} count={list === null ? '' : formatWaiting(list) || 0} href="/inbox">
          {list?.entries.slice(0, ROWS).map((entry) => (
            <Row
              key={entry.id}
              name={
                <a href={getEntryPath(entry)}>
                  <SafeText text={toOneLine(getEntryTitle(entry), 60)} />
                </a>
              }
              end={formatWait(getServerTime() - Date.parse(entry.at))}
            >
              <SafeText as="span" class="dim one-line small" text={toOneLine(getEntryText(entry), 120)} />
            </Row>
          ))}
        </Card>
        <Card title={t.deadWorkers} count={died.length} href="/workers" isBad={died.length > 0}>
          {died.slice(0, ROWS).map((worker) => (
            <Row
              key={worker.id}
              name={<SafeText as="strong" text={nameWorker(worker)} limit={80} />}
              end={
                <>
                  {t.lastSeen}
                  <Timestamp at={worker.seen_at} />
                </>
              }
            >
              <span class="small">
                <Fate worker={worker} limit={3} />
              </span>
            </Row>
          ))}
        </Card>
        <RunCard title={t.states.running} runs={running} href="/runs?state=running" />
        <RunCard title={t.failedSinceYesterday} runs={failed} href="/runs?outcome=failed&since=yesterday" />
      </div>
      <div>
        <Card title={t.failingSinks} count={sinks.length} href="/sinks" isBad={sinks.length > 0}>
          {sinks.slice(0, ROWS).map(({ name, open, dead, last_error }) => (
            <Row key={name} name={<SafeText as="strong" text={name} limit={60} />} end={t.notDelivered(open + dead)}>
              <SafeText as="span" class="dim one-line small" text={toOneLine(last_error ?? '', 300)} />
              <Redelivery name={name} sink={{ open, dead, error: last_error }} label={t.redeliver} />
            </Row>
          ))}
        </Card>
        <Card title={t.pages.budgets} href="/budgets" isBad={budgets.some(({ percent }) => percent >= 100)}>
          {budgets.slice(0, ROWS).map(({ budget, percent }) => (
            <Row
              key={`${budget.scope} ${budget.name}`}
              name={<SafeText text={nameBudget(budget)} limit={60} />}
              end={percent >= 100 ? <Badge tone="bad">{t.exceeded(percent)}</Badge> : `${percent} %`}
            >
              <Meter fraction={percent / 100} />
            </Row>
          ))}
        </Card>
        <Card title={t.costToday} href="/charts">
          <p>
            <strong class="now-figure">{formatCost(cost.today)}</strong>{' '}
            <span class="dim">
              {cost.usual === null ? t.nothingWasUsedInThe : t.usuallyInAWholeDay(formatCost(cost.usual))}
            </span>
          </p>
        </Card>
        <Card title={t.pages.schedules} href="/schedules">
          {schedules.slice(0, ROWS).map((schedule) => (
            <Row
              key={schedule.name}
              name={
                <Link label={schedule.name.slice(0, 60)} href={`/schedules?row=${encodeURIComponent(schedule.name)}`} />
              }
              end={<NextTick schedule={schedule} />}
            >
              <span class="small">
                {t.last}
                <LastTick tick={schedule.last} />
              </span>
            </Row>
          ))}
        </Card>
      </div>
    </div>
  );
}

function RunCard(props: { readonly title: string; readonly runs: readonly RunSummary[]; readonly href: string }) {
  const { title, runs, href } = props;
  return (
    <Card title={title} count={runs.length > ROWS ? `${ROWS}+` : runs.length} href={href}>
      {runs.slice(0, ROWS).map(({ id, title: task, result, started_at, ended_at }) => (
        <Row
          key={id}
          name={<RunLink id={id} label={toOneLine(task || id, 80)} />}
          end={
            <>
              {ended_at === null ? t.since : null}
              <Timestamp at={ended_at ?? started_at} />
            </>
          }
        >
          {result?.error === undefined ? null : <code class="dim one-line small">{result.error.code}</code>}
        </Row>
      ))}
    </Card>
  );
}

function Card(props: {
  readonly title: string;
  readonly count?: number | string;
  readonly href: string;
  readonly isBad?: boolean;
  readonly children: ComponentChildren;
}) {
  const { title, count, href, isBad = false, children } = props;
  const isEmpty = Array.isArray(children) && children.length === 0;
  return (
    <section class={isBad ? 'card now-card bad' : 'card now-card'} aria-label={title}>
      <h2>
        <a href={href}>{title}</a> {count === undefined ? null : <span class="dim">{count}</span>}
      </h2>
      {isEmpty ? <p class="dim">{t.none}</p> : children}
    </section>
  );
}

function Row(props: {
  readonly name: ComponentChildren;
  readonly end: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="now-row">
      <div class="now-row-head">
        <span>{props.name}</span>
        <span class="dim small">{props.end}</span>
      </div>
      {props.children}
    </div>
  );
}
