import { useSignal } from '@preact/signals';
import type { OutboxMessage } from '../../../src/server/api/index.js';
import type { SinkState } from '../../../src/store/records/index.js';
import { toPath } from '../../app/route.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../data/client.js';
import { useAction } from '../../data/resource.js';
import { Badge, labelState, listStateOptions, StateBadge } from '../../ui/badge.js';
import { Button, CopyButton } from '../../ui/button.js';
import { Facts, IssueLink, readTrigger } from '../../ui/facts.js';
import { formatCount, Timestamp } from '../../ui/format.js';
import { ListPage, type Filter } from '../../ui/list-page.js';
import { Notice, type Tone } from '../../ui/notice.js';
import { Redelivery, redeliveries } from '../../ui/redelivery.js';
import type { Column } from '../../ui/row-table.js';
import { SafeText } from '../../ui/safe-text.js';
import './delivery.css';
import { t } from './texts.js';

const FILTERS: readonly Filter[] = [
  { name: 'issue_ref', label: t.issue, kind: 'search', placeholder: t.exactReferenceSuchAsAcme },
  {
    name: 'state',
    label: t.state,
    kind: 'choice',
    options: listStateOptions(['waiting', 'sending', 'delivered', 'dead']),
  },
];

const COLUMNS: readonly Column<OutboxMessage>[] = [
  { name: t.state, width: '7.5rem', cell: ({ state }) => <StateBadge state={state} /> },
  {
    name: t.issue,
    width: '20%',
    class: 'wide',
    cell: (message, opener) => (
      <>
        {opener(message.issue_ref)}
        <span class="below">
          <TriggerText message={message} />
        </span>
      </>
    ),
  },
  { name: t.sink, width: '7rem', class: 'nowrap', cell: ({ sink }) => sink },
  {
    name: t.destinationOrError,
    cell: (message) => <SafeText as="span" class="clip" text={describeDelivery(message)} limit={300} />,
  },
  {
    name: t.attempts,
    width: '6rem',
    isNumber: true,
    cell: ({ tries }) => (
      <>
        {tries}
        <span class="narrow">{t.attemptCount(tries)}</span>
      </>
    ),
  },
  { name: t.created, width: '9.5rem', class: 'nowrap', cell: ({ created_at }) => <Timestamp at={created_at} /> },
];

/** The comments: waiting, delivered and failed. */
export function OutboxPage() {
  const sinks = useSignal<readonly SinkState[]>([]);
  return (
    <ListPage
      title={t.outbox}
      itemName="comment"
      filters={FILTERS}
      load={async (filterAndPage, signal) => {
        // Both are loaded together, so a sink notice does not move the list when it arrives.
        const [page, listed] = await Promise.all([
          client.listOutbox({ query: filterAndPage, signal }),
          client.listSinks({ signal }),
        ]);
        sinks.value = listed.items;
        return page;
      }}
      getKey={(message) => message.id}
      columns={COLUMNS}
      details={(message) => <Details message={message} />}
      above={(messages) => (
        <>
          {sinks.value
            .filter(({ state, name }) => state !== 'waiting' || redeliveries.value.has(name))
            .map((sink) => (
              <FailingSink key={sink.name} sink={sink} />
            ))}
          <SinkHealthRow messages={messages} sinks={sinks.value} />
        </>
      )}
      emptyTitle={t.noCommentsYet}
      emptyText={t.eachDecisionAboutAnOrder}
    />
  );
}

function FailingSink({ sink: { name, state, open, dead, last_error: error } }: { readonly sink: SinkState }) {
  const count = open + dead;
  return (
    <Notice tone="warn" title={t.sinkNotice(name, count, formatCount(count), state === 'broken' ? dead : null)}>
      <SafeText text={error ?? ''} limit={300} /> <Redelivery name={name} sink={{ open, dead, error }} />
    </Notice>
  );
}

const TONES: Readonly<Record<SinkHealth['state'], Tone>> = {
  ok: 'good',
  waiting: 'plain',
  failing: 'warn',
  broken: 'bad',
};

/** A list of the sinks, each with its state and its last delivery or error. */
export function SinkHealthRow(props: Readonly<{ messages: readonly OutboxMessage[]; sinks: readonly SinkState[] }>) {
  const { messages, sinks } = props;
  return (
    <ul class="sinks" aria-label={t.sinks}>
      {summarizeSinks(messages, sinks).map(({ name, state, last, undelivered, error }) => (
        <li key={name} class="card">
          <span class="row">
            <SafeText as="strong" text={name} limit={60} />
            <Badge tone={TONES[state]}>{labelState(state)}</Badge>
            {undelivered === 0 ? null : <span class="dim end">{t.notDelivered(undelivered)}</span>}
          </span>
          <span class="dim small one-line">
            {error !== null ? (
              <SafeText text={error} limit={200} />
            ) : last === null ? (
              t.noCommentDeliveredYet
            ) : (
              <>
                {t.lastCommentDelivered}
                <Timestamp at={last.at} />
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** A sink's health, derived from the listed comments and the server's list of failing sinks. */
interface SinkHealth {
  readonly name: string;
  readonly state: 'ok' | SinkState['state'];
  readonly last: Readonly<{ at: string; to: string }> | null;
  readonly undelivered: number;
  readonly error: string | null;
}

/** Summarizes the sinks of the listed comments and all sinks with undelivered comments, sorted by name. */
export function summarizeSinks(
  messages: readonly OutboxMessage[],
  failing: readonly SinkState[],
): readonly SinkHealth[] {
  const delivered = new Map<string, SinkHealth['last']>();
  // Messages are listed newest first.
  for (const { sink, state, created_at: at, delivered_to: to } of messages) {
    const last = state === 'delivered' ? { at, to: to ?? '' } : null;
    delivered.set(sink, delivered.get(sink) ?? last);
  }
  const names = [...new Set([...delivered.keys(), ...failing.map(({ name }) => name)])].sort();
  return names.map((name) => {
    const failure = failing.find((sink) => sink.name === name);
    return {
      name,
      state: failure?.state ?? 'ok',
      last: delivered.get(name) ?? null,
      undelivered: (failure?.open ?? 0) + (failure?.dead ?? 0),
      error: failure?.last_error ?? null,
    };
  });
}

function describeDelivery({ state, delivered_to, last_error }: OutboxMessage): string {
  return (state === 'delivered' ? delivered_to : last_error) ?? '';
}

function TriggerText({ message }: Readonly<{ message: OutboxMessage }>) {
  const trigger = readTrigger(message.trigger);
  if (trigger.kind === 'run') return <>{t.resultOf(trigger.runId)}</>;
  return trigger.kind === 'item' ? <>{t.humanDecision}</> : <SafeText text={trigger.text} />;
}

/** Longer than any comment, so comments are always complete. */
const MAX_LENGTH = 200_000;

function Details({ message }: Readonly<{ message: OutboxMessage }>) {
  const trigger = readTrigger(message.trigger);
  return (
    <div class="stack">
      <Facts
        facts={{
          [t.issue]: <IssueLink of={message.issue_ref} />,
          [t.reason]:
            trigger.kind === 'item' ? (
              <a href={toPath({ page: 'inbox', id: trigger.itemId })}>{t.decisionInTheInbox}</a>
            ) : (
              <TriggerText message={message} />
            ),
          [t.deliveredTo]: message.delivered_to,
          [t.nextAttempt]:
            message.state === 'waiting' ? <Timestamp at={new Date(message.due_at).toISOString()} /> : null,
          [t.lastError]: message.last_error,
          [t.whatToDo]: message.state === 'dead' ? t.theCommentIsNotSent : null,
        }}
      />
      <SafeText as="pre" text={message.body} limit={MAX_LENGTH} />
      <p>
        <CopyButton label={t.copyComment} read={() => message.body} /> <Redeliver message={message} />
      </p>
    </div>
  );
}

/** A button that redelivers a comment that failed or is waiting for its next attempt. The list shows the outcome. */
function Redeliver({ message: { id, state } }: { readonly message: OutboxMessage }) {
  const redelivery = useAction(async () => client.redeliverComment({ id }));
  if ((state !== 'dead' && state !== 'waiting') || !hasScope('decide')) return null;
  return (
    <>
      <Button label={t.redeliver} onClick={redelivery.run} />
      <span role="status"> {redelivery.failure ?? (redelivery.isDone ? t.sending : '')}</span>
    </>
  );
}
