import { useSignal } from '@preact/signals';
import type { ScheduleTick, ScheduleView } from '../../../src/store/records/index.js';
import { toPath } from '../../app/route.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../data/client.js';
import { useAction, useResource } from '../../data/resource.js';
import { Button, Loaded, Refused } from '../../ui/parts.js';
import { Facts, IssueLink } from '../../ui/facts.js';
import { Timestamp, SafeText } from '../../ui/text.js';
import { ResourcePage } from '../../ui/list-page.js';
import { RowTable, type Column } from '../../ui/row-table.js';
import { LastTick, NextTick } from '../now/now-parts.js';
import { t } from './texts.js';

const COLUMNS: readonly Column<ScheduleView>[] = [
  {
    name: t.schedule,
    width: '22%',
    class: 'wide',
    cell: ({ name, issue_ref }, opener) => (
      <>
        {opener(<SafeText text={name} limit={80} />)}
        <span class="below">
          <SafeText text={issue_ref} limit={80} />
        </span>
      </>
    ),
  },
  { name: t.cronUtc, width: '9rem', class: 'nowrap', cell: ({ cron }) => <code>{cron}</code> },
  { name: t.next, width: '26%', cell: (schedule) => <NextTick schedule={schedule} /> },
  { name: t.last, isLabeled: true, cell: ({ last }) => <LastTick tick={last} /> },
];

/** The schedules: when each is due, what its last tick did; to pause, resume or run now. */
export function SchedulesPage() {
  const schedules = useResource('schedules', async (signal) => client.listSchedules({ signal }), { live: true });
  return (
    <ResourcePage
      title={t.pages.schedules}
      resource={schedules}
      isEmpty={({ items }) => items.length === 0}
      emptyTitle={t.noSchedules}
      emptyText={t.ordersThatAreSubmittedRegularly}
    >
      {({ items }) => (
        <RowTable
          columns={COLUMNS}
          items={items}
          getKey={({ name }) => name}
          details={(schedule) => <Details schedule={schedule} reload={schedules.reload} />}
        />
      )}
    </ResourcePage>
  );
}

function Details({ schedule, reload }: { readonly schedule: ScheduleView; readonly reload: () => void }) {
  const { name, paused, overlap, issue_ref } = schedule;
  const ticks = useResource(`ticks ${name}`, async (signal) => client.listTicks({ signal }), { live: true });
  return (
    <div class="stack">
      <Actions schedule={schedule} reload={reload} />
      <Facts
        facts={{
          [t.issue]: <IssueLink of={issue_ref} />,
          [t.whileItsIssueIsBusy]: t.overlaps[overlap],
          [t.paused]: paused === null ? null : <SafeText text={`${paused.why} (${paused.who})`} limit={2000} />,
          [t.pausedSince]: paused === null ? null : <Timestamp at={paused.at} />,
        }}
      />
      <Loaded resource={ticks}>
        {({ items }) => (
          <ul class="notes" aria-label={t.lastTicks}>
            {items
              .filter((tick) => tick.schedule === name)
              .slice(0, 20)
              .map((tick) => (
                <li key={tick.at}>
                  <LastTick tick={tick} />{' '}
                  {tick.run_id === null ? null : <a href={toPath({ page: 'issues', ref: issue_ref })}>{tick.run_id}</a>}
                </li>
              ))}
          </ul>
        )}
      </Loaded>
    </div>
  );
}

function Actions({ schedule: { name, paused }, reload }: Readonly<{ schedule: ScheduleView; reload: () => void }>) {
  const why = useSignal('');
  const outcome = useSignal<ScheduleTick | null>(null);
  const run = useAction(async () => {
    outcome.value = await client.runSchedule({ name });
    reload();
  });
  const pause = useAction(async () => {
    if (paused === null) await client.pauseSchedule({ name, body: { why: why.value.trim() } });
    else await client.resumeSchedule({ name });
    reload();
  });
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        if (paused !== null || why.value.trim() !== '') pause.run();
      }}
    >
      {hasScope('run') ? <Button label={t.runNow} class="primary" disabled={run.isBusy} onClick={run.run} /> : null}
      {hasScope('decide') ? (
        <>
          {paused === null ? (
            <input
              type="text"
              aria-label={t.reasonForThePause}
              placeholder={t.reasonForAPause}
              maxLength={500}
              value={why.value}
              onInput={({ currentTarget }) => (why.value = currentTarget.value)}
            />
          ) : null}
          <button type="submit" disabled={pause.isBusy || (paused === null && why.value.trim() === '')}>
            {paused === null ? t.pause : t.resume}
          </button>
        </>
      ) : null}
      <span role="status">{outcome.value === null ? null : <LastTick tick={outcome.value} />}</span>
      <Refused why={run.failure ?? pause.failure} />
    </form>
  );
}
