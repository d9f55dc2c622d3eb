import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import type { OutboxMessage } from '../../../src/api/index.js';
import { toPath } from '../../app/route.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../server/client.js';
import { asFailure } from '../../server/use-resource.js';
import { StateBadge } from '../../ui/badge.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Facts } from '../../ui/facts.js';
import { OpenableRow } from '../../ui/openable-row.js';
import { readTrigger } from '../../ui/read-trigger.js';
import { RowTable } from '../../ui/row-table.js';
import type { Column } from '../../ui/row-table.js';
import { SafeText } from '../../ui/safe-text.js';
import { Timestamp } from '../../ui/time.js';

const COLUMNS: readonly Column[] = [
  { name: 'State', width: '7.5rem' },
  { name: 'Issue', width: '20%' },
  { name: 'Sink', width: '7rem' },
  { name: 'Destination or error' },
  { name: 'Attempts', width: '6rem', isNumber: true },
  { name: 'Created', width: '9.5rem' },
];

/** The table of comments and their deliveries. */
export function DeliveryTable({
  messages,
  list,
}: {
  readonly messages: readonly OutboxMessage[];
  readonly list: RefObject<HTMLTableElement>;
}) {
  return (
    <RowTable columns={COLUMNS} list={list}>
      {messages.map((message) => (
        <OpenableRow
          key={message.id}
          id={message.id}
          columns={COLUMNS.length}
          details={() => <Details message={message} />}
          cells={(opener) => (
            <>
              <td>
                <StateBadge state={message.state} />
              </td>
              <td class="wide">
                {opener(message.issue_ref)}
                <span class="below">
                  <TriggerText message={message} />
                </span>
              </td>
              <td class="nowrap">{message.sink}</td>
              <td>
                <span class="clip">
                  <SafeText text={describeDelivery(message)} limit={300} />
                </span>
              </td>
              <td class="number">
                {message.tries}
                <span class="narrow"> {message.tries === 1 ? 'attempt' : 'attempts'}</span>
              </td>
              <td class="nowrap">
                <Timestamp at={message.created_at} />
              </td>
            </>
          )}
        />
      ))}
    </RowTable>
  );
}

function describeDelivery({ state, delivered_to, last_error }: OutboxMessage): string {
  switch (state) {
    case 'delivered':
      return delivered_to ?? '';
    case 'waiting':
    case 'sending':
    case 'dead':
      return last_error ?? '';
  }
}

function TriggerText({ message }: { readonly message: OutboxMessage }) {
  const trigger = readTrigger(message.trigger);
  switch (trigger.kind) {
    case 'run':
      return <>Result of {trigger.runId}</>;
    case 'item':
      return <>Human decision</>;
    case 'other':
      return <SafeText text={trigger.text} />;
  }
}

/** Longer than any comment, so comments are always complete. */
const MAX_LENGTH = 200_000;

function Details({ message }: { readonly message: OutboxMessage }) {
  const trigger = readTrigger(message.trigger);
  return (
    <div class="stack">
      <Facts
        facts={{
          Issue: <a href={toPath({ page: 'issues', ref: message.issue_ref })}>{message.issue_ref}</a>,
          Reason:
            trigger.kind === 'item' ? (
              <a href={toPath({ page: 'inbox', id: trigger.itemId })}>Decision in the inbox</a>
            ) : (
              <TriggerText message={message} />
            ),
          'Delivered to': message.delivered_to === null ? undefined : <SafeText text={message.delivered_to} />,
          'Next attempt':
            message.state === 'waiting' ? <Timestamp at={new Date(message.due_at).toISOString()} /> : undefined,
          'Last error': message.last_error === null ? undefined : <SafeText text={message.last_error} />,
          'What to do':
            message.state === 'dead'
              ? 'The comment is not sent again automatically. Fix the cause named in the error, then redeliver it.'
              : undefined,
        }}
      />
      <pre>
        <SafeText text={message.body} limit={MAX_LENGTH} />
      </pre>
      <p>
        <CopyButton label="Copy comment" read={() => message.body} /> <Redeliver message={message} />
      </p>
    </div>
  );
}

/** A button that redelivers a comment that failed or is waiting for its next attempt. The list shows the outcome. */
function Redeliver({ message }: { readonly message: OutboxMessage }) {
  const note = useSignal<string | null>(null);
  if ((message.state !== 'dead' && message.state !== 'waiting') || !hasScope('decide')) return null;
  const redeliver = async (): Promise<void> => {
    try {
      await client.redeliverComment({ id: message.id });
      note.value = 'Sending …';
    } catch (error) {
      note.value = asFailure(error).message;
    }
  };
  return (
    <>
      <button type="button" onClick={() => void redeliver()}>
        Redeliver
      </button>
      <span role="status"> {note.value}</span>
    </>
  );
}
