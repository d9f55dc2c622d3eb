import { useEffect, useRef } from 'preact/hooks';
import type { InboxItem } from '../../../src/api/index.js';
import { toPath } from '../../app/route.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { StateBadge } from '../../ui/badge.js';
import { Facts } from '../../ui/facts.js';
import { SafeText } from '../../ui/safe-text.js';
import { Timestamp } from '../../ui/time.js';
import { InlineFailure, Loading } from '../../ui/notice.js';
import { describeResolution } from './decision-request.js';

/** The decision, its author and reason, and the delivery of the comment. */
export function Settled({
  item,
  resolution,
  isMine,
}: {
  readonly item: InboxItem;
  readonly resolution: Readonly<Record<string, unknown>>;
  /** Whether the viewer has just made this decision; then the next item is offered. */
  readonly isMine: boolean;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (isMine) heading.current?.focus();
  }, [isMine]);
  const text = (name: string): string | undefined => {
    const value = resolution[name];
    return typeof value === 'string' ? value : undefined;
  };
  const { result } = resolution;
  return (
    <section class="card stack settled" aria-label="Settled">
      <h2 ref={heading} tabIndex={-1}>
        <SafeText text={text('who') ?? ''} /> {describeResolution(text('action') ?? '')}
      </h2>
      <Facts
        facts={{
          Reason: <SafeText text={text('why') ?? ''} />,
          Decided: <Timestamp at={text('at') ?? null} />,
          Decision: text('decision') === undefined ? undefined : <StateBadge state={text('decision') ?? ''} />,
          'New run':
            text('new_run_id') === undefined ? undefined : (
              <a href={toPath({ page: 'issues', ref: item.issue_ref })}>{text('new_run_id')}</a>
            ),
          Comment: (
            <div class="deliveries-here">
              <Deliveries issueRef={item.issue_ref} trigger={`resolve:${item.id}`} />
            </div>
          ),
        }}
      />
      {isMine ? <NextItem /> : null}
      {result === undefined ? null : (
        <details>
          <summary>Accepted result</summary>
          <pre>
            <SafeText text={JSON.stringify(result, null, 2)} />
          </pre>
        </details>
      )}
    </section>
  );
}

/** A link to the oldest of the remaining items. */
function NextItem() {
  const inbox = useResource('next', async (signal) => client.listInbox({ query: { open: 'true', limit: 1 }, signal }));
  const next = inbox.value?.items[0];
  if (inbox.value === null) {
    return inbox.failure === null ? (
      <Loading space="line" />
    ) : (
      <InlineFailure failure={inbox.failure} reload={inbox.reload} />
    );
  }
  if (next === undefined) return <p>No other results are waiting.</p>;
  return (
    <p>
      Next: <a href={toPath({ page: 'inbox', id: next.id })}>{next.issue_ref}</a>
    </p>
  );
}

/** How many of the issue's newest comments are searched. */
const MAX_LISTED = 100;

/** The comment's delivery state for each sink. */
function Deliveries({ issueRef, trigger }: { readonly issueRef: string; readonly trigger: string }) {
  const outbox = useResource(
    `outbox ${issueRef}`,
    async (signal) => client.listOutbox({ query: { issue_ref: issueRef, limit: MAX_LISTED }, signal }),
    { live: true },
  );
  if (outbox.value === null) return <span class="dim">…</span>;
  const messages = outbox.value.items.filter((message) => message.trigger === trigger);
  if (messages.length === 0) {
    return (
      <span class="dim">
        {outbox.value.next_cursor === null ? 'No comment' : `Not among the issue’s newest ${MAX_LISTED} comments`}
      </span>
    );
  }
  return (
    <ul class="notes">
      {messages.map((message) => (
        <li key={message.id}>
          <StateBadge state={message.state} />{' '}
          <a href={`/outbox?issue_ref=${encodeURIComponent(issueRef)}&row=${encodeURIComponent(message.id)}`}>
            {message.sink}
          </a>{' '}
          <SafeText text={message.delivered_to ?? message.last_error ?? ''} />
        </li>
      ))}
    </ul>
  );
}
