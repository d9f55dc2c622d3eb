import { useSignal } from '@preact/signals';
import type { OutboxMessage } from '../../../src/server/api/index.js';
import type { SinkState } from '../../../src/store/records/index.js';
import { toPath } from '../../app/route.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../data/client.js';
import { useAction } from '../../data/resource.js';
import { Badge, labelState, listStateOptions, StateBadge } from '../../ui/badge.js';
import { Button, CopyButton } from '../../ui/button.js';
import { Facts, IssueLink } from '../../ui/facts.js';
import { formatCount, Timestamp } from '../../ui/format.js';
import { ListPage, type Filter } from '../../ui/list-page.js';
import { Notice, type Tone } from '../../ui/notice.js';
import { readTrigger } from '../../ui/read-trigger.js';
import type { Column } from '../../ui/row-table.js';
import { SafeText } from '../../ui/safe-text.js';
import './outbox.css';

const FILTERS: readonly Filter[] = [
  { name: 'issue_ref', label: 'Issue', kind: 'search', placeholder: 'Exact reference, such as acme/shop#12' },
  {
    name: 'state',
    label: 'State',
    kind: 'choice',
    options: listStateOptions(['waiting', 'sending', 'delivered', 'dead']),
  },
];

const COLUMNS: readonly Column<OutboxMessage>[] = [
  { name: 'State', width: '7.5rem', cell: ({ state }) => <StateBadge state={state} /> },
  {
    name: 'Issue',
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
  { name: 'Sink', width: '7rem', class: 'nowrap', cell: ({ sink }) => sink },
  {
    name: 'Destination or error',
    cell: (message) => <SafeText as="span" class="clip" text={describeDelivery(message)} limit={300} />,
  },
  {
    name: 'Attempts',
    width: '6rem',
    isNumber: true,
    cell: ({ tries }) => (
      <>
        {tries}
        <span class="narrow"> {tries === 1 ? 'attempt' : 'attempts'}</span>
      </>
    ),
  },
  { name: 'Created', width: '9.5rem', class: 'nowrap', cell: ({ created_at }) => <Timestamp at={created_at} /> },
];

/** The comments: waiting, delivered and failed. */
export function OutboxPage() {
  const sinks = useSignal<readonly SinkState[]>([]);
  return (
    <ListPage
      title="Outbox"
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
            .filter(({ state }) => state !== 'waiting')
            .map((sink) => (
              <FailingSink key={sink.name} sink={sink} />
            ))}
          <SinkHealthRow messages={messages} sinks={sinks.value} />
        </>
      )}
      emptyTitle="No comments yet"
      emptyText="Each decision about an order adds a comment here. Delivered comments stay listed."
    />
  );
}

function FailingSink({ sink: { name, state, open, dead, last_error: error } }: { readonly sink: SinkState }) {
  const redelivery = useAction(async () => client.redeliverSink({ body: { sink: name } }));
  const undelivered = `${formatCount(open + dead)} ${open + dead === 1 ? 'comment' : 'comments'}`;
  return (
    <Notice
      tone="warn"
      title={`${name}: ${undelivered} not delivered${state === 'broken' ? `, ${dead} failed` : ''}`}
      {...(hasScope('decide') ? { action: { label: `Redeliver to ${name}`, run: redelivery.run } } : {})}
    >
      <SafeText text={redelivery.failure ?? error ?? ''} limit={300} />
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
    <ul class="sinks" aria-label="Sinks">
      {summarizeSinks(messages, sinks).map(({ name, state, last, undelivered, error }) => (
        <li key={name} class="card">
          <span class="row">
            <SafeText as="strong" text={name} limit={60} />
            <Badge tone={TONES[state]}>{labelState(state)}</Badge>
            {undelivered === 0 ? null : <span class="dim end">{undelivered} not delivered</span>}
          </span>
          <span class="dim small one-line">
            {error !== null ? (
              <SafeText text={error} limit={200} />
            ) : last === null ? (
              'No comment delivered yet'
            ) : (
              <>
                Last comment delivered <Timestamp at={last.at} />
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
  if (trigger.kind === 'run') return <>Result of {trigger.runId}</>;
  return trigger.kind === 'item' ? <>Human decision</> : <SafeText text={trigger.text} />;
}

/** Longer than any comment, so comments are always complete. */
const MAX_LENGTH = 200_000;

function Details({ message }: Readonly<{ message: OutboxMessage }>) {
  const trigger = readTrigger(message.trigger);
  return (
    <div class="stack">
      <Facts
        facts={{
          Issue: <IssueLink of={message.issue_ref} />,
          Reason:
            trigger.kind === 'item' ? (
              <a href={toPath({ page: 'inbox', id: trigger.itemId })}>Decision in the inbox</a>
            ) : (
              <TriggerText message={message} />
            ),
          'Delivered to': message.delivered_to,
          'Next attempt':
            message.state === 'waiting' ? <Timestamp at={new Date(message.due_at).toISOString()} /> : null,
          'Last error': message.last_error,
          'What to do':
            message.state === 'dead'
              ? 'The comment is not sent again automatically. Fix the cause named in the error, then redeliver it.'
              : null,
        }}
      />
      <SafeText as="pre" text={message.body} limit={MAX_LENGTH} />
      <p>
        <CopyButton label="Copy comment" read={() => message.body} /> <Redeliver message={message} />
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
      <Button label="Redeliver" onClick={redelivery.run} />
      <span role="status"> {redelivery.failure ?? (redelivery.isDone ? 'Sending …' : '')}</span>
    </>
  );
}
