import { useSignal } from '@preact/signals';
import type { OutboxMessage } from '../../../src/server/api/index.js';
import type { SinkState } from '../../../src/store/records/index.js';
import { toPath } from '../../app/route.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../data/client.js';
import { useAction } from '../../data/resource.js';
import { listStateOptions, StateBadge, Button, CopyButton, Notice } from '../../ui/parts.js';
import { Facts, IssueLink, readTrigger } from '../../ui/facts.js';
import { formatCount, Timestamp, SafeText } from '../../ui/text.js';
import { ListPage, type Filter } from '../../ui/list-page.js';
import { Redelivery, redeliveries } from '../../ui/redelivery.js';
import type { Column } from '../../ui/row-table.js';
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
    cell: ({ state, delivered_to, last_error }) => (
      <SafeText as="span" class="clip" text={(state === 'delivered' ? delivered_to : last_error) ?? ''} limit={300} />
    ),
  },
  {
    name: t.states.attempts,
    width: '6rem',
    isNumber: true,
    isLabeled: true,
    cell: ({ tries }) => tries,
  },
  { name: t.states.created, width: '9.5rem', class: 'nowrap', cell: ({ created_at }) => <Timestamp at={created_at} /> },
];

export function OutboxPage() {
  const sinks = useSignal<readonly SinkState[]>([]);
  return (
    <ListPage
      title={t.pages.outbox}
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
      above={() =>
        sinks.value
          .filter(({ state, name }) => state !== 'waiting' || redeliveries.value.has(name))
          .map((sink) => <FailingSink key={sink.name} sink={sink} />)
      }
      emptyTitle={t.noCommentsYet}
      emptyText={t.eachDecisionAboutAnOrder}
    />
  );
}

function FailingSink({ sink: { name, state, open, dead, last_error: error } }: { readonly sink: SinkState }) {
  const count = open + dead;
  return (
    <Notice tone="bad" title={t.sinkNotice(name, count, formatCount(count), state === 'broken' ? dead : null)}>
      <SafeText text={error ?? ''} limit={300} /> <Redelivery name={name} sink={{ open, dead, error }} />
    </Notice>
  );
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
