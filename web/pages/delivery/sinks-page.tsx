import type { SinkState } from '../../../src/store/records/index.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { Badge, labelState, type Tone } from '../../ui/parts.js';
import { ResourcePage } from '../../ui/list-page.js';
import { Redelivery, redeliveries } from '../../ui/redelivery.js';
import { RowTable, type Column } from '../../ui/row-table.js';
import { SafeText, Timestamp } from '../../ui/text.js';
import { t } from './texts.js';

const TONES: Readonly<Record<SinkState['state'], Tone>> = { waiting: 'plain', failing: 'bad', broken: 'bad' };

const COLUMNS: readonly Column<ReturnType<typeof listRows>[number]>[] = [
  {
    name: t.sink,
    width: '18%',
    class: 'wide',
    cell: ({ name, type }) => (
      <>
        <SafeText text={name} limit={80} />
        <span class="below">{type}</span>
      </>
    ),
  },
  {
    name: t.state,
    width: '8rem',
    cell: ({ state }) =>
      state === undefined ? (
        <Badge tone="good">{t.states.ok}</Badge>
      ) : (
        <Badge tone={TONES[state.state]}>{labelState(state.state)}</Badge>
      ),
  },
  { name: t.retrying, width: '6rem', isNumber: true, isLabeled: true, cell: ({ state }) => state?.open ?? 0 },
  { name: t.states.failed, width: '6rem', isNumber: true, isLabeled: true, cell: ({ state }) => state?.dead ?? 0 },
  {
    name: t.lastError,
    cell: ({ state }) => (
      <>
        <SafeText text={state?.last_error ?? ''} limit={300} />
        {state === undefined ? null : (
          <span class="below">
            {t.oldestComment}
            <Timestamp at={state.oldest_at} />
          </span>
        )}
      </>
    ),
  },
  {
    name: t.redelivery,
    width: '20%',
    cell: ({ name, state }) =>
      state === undefined && !redeliveries.value.has(name) ? (
        ''
      ) : (
        <Redelivery
          name={name}
          label={t.redeliver}
          sink={state === undefined ? undefined : { ...state, error: state.last_error }}
        />
      ),
  },
];

export function SinksPage() {
  const isAllowed = hasScope('decide');
  const sinks = useResource(
    'sinks',
    async (signal) => {
      const [{ items }, configured] = await Promise.all([
        client.listSinks({ signal }),
        isAllowed ? client.readSettings({ signal }).then((settings) => settings.sinks) : [],
      ]);
      return listRows(items, configured, [...redeliveries.peek().keys()]);
    },
    { live: true },
  );
  return (
    <ResourcePage
      title={t.pages.sinks}
      resource={sinks}
      end={<a href="/outbox">{t.allComments}</a>}
      isEmpty={(rows) => rows.length === 0}
      emptyTitle={t.allCommentsAreDelivered}
    >
      {(rows) => <RowTable columns={COLUMNS} items={rows} getKey={({ name }) => name} />}
    </ResourcePage>
  );
}

/** Combines the configured sinks with those that have undelivered comments; failing ones come first. */
export function listRows(
  undelivered: readonly SinkState[],
  configured: readonly Readonly<{ name: string; type: string }>[],
  others: readonly string[] = [],
) {
  const names = [
    ...new Set([...undelivered.map(({ name }) => name), ...others, ...configured.map(({ name }) => name)]),
  ];
  const rows = names.map((name) => ({
    name,
    /** Null for callers that must not read the configuration. */
    type: configured.find((sink) => sink.name === name)?.type ?? null,
    state: undelivered.find((sink) => sink.name === name),
  }));
  const isFailing = ({ state }: (typeof rows)[number]): boolean => state !== undefined && state.state !== 'waiting';
  return [...rows.filter(isFailing), ...rows.filter((row) => !isFailing(row))];
}
