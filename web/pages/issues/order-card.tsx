import type { ComponentChildren } from 'preact';
import type { InboxItem, OrderView, OutboxMessage } from '../../../src/server/api/index.js';
import { toPath } from '../../app/route.js';
import { Badge, StateBadge } from '../../ui/parts.js';
import { Facts, readTrigger } from '../../ui/facts.js';
import { SafeText, formatDuration, Timestamp } from '../../ui/text.js';
import { labelResolution } from '../inbox/decision.js';
import type { Client } from '../../../src/server/client/index.js';
import { groupBy } from '../../../src/base/index.js';
import { t } from './texts.js';

export function OrderCard({
  history,
  isActive,
}: Readonly<{ history: ReturnType<typeof groupHistory>[number]; isActive: boolean }>) {
  const { runId, order, items, comments } = history;
  return (
    <article class="card stack" aria-label={runId === NO_RUN ? t.otherComments : runId}>
      <div class="row">
        <h2>
          {order === null ? runId || t.otherComments : <a href={toPath({ page: 'run', id: order.run })}>{runId}</a>}
        </h2>
        {isActive ? <Badge>{t.activeRun}</Badge> : null}
        {order === null ? null : (
          <>
            <StateBadge
              state={order.decision?.action ?? order.state}
              isOver={items.every(({ resolution }) => resolution !== null)}
            />
            <span class="dim">
              {t.submitted}
              <Timestamp at={order.created_at} />
              {order.started_at !== null && order.settled_at !== null
                ? t.took(formatDuration(Math.max(0, Date.parse(order.settled_at) - Date.parse(order.started_at))))
                : ''}
            </span>
          </>
        )}
        {order === null && runId !== NO_RUN ? <span class="dim">{t.olderOrder}</span> : null}
      </div>
      {order === null ? null : <OrderFacts order={order} />}
      <List title={t.inboxItems}>
        {items.map(({ id, reason, resolution }) => (
          <li key={id}>
            {resolution === null ? (
              <Badge tone="warn">{t.states.waiting}</Badge>
            ) : (
              <Badge>{labelResolution(resolution.action)}</Badge>
            )}{' '}
            <a href={toPath({ page: 'inbox', id: id })}>
              {reason !== order?.decision?.reason ? (
                <SafeText text={reason} limit={200} />
              ) : resolution === null ? (
                t.decideOnThisResult
              ) : (
                t.showTheDecision
              )}
            </a>{' '}
            {resolution === null ? null : (
              <span class="dim">
                {t.settledBy}
                <SafeText text={resolution.who} />
              </span>
            )}
          </li>
        ))}
      </List>
      <List title={t.itemsLabels.comment}>{comments.map(drawComment)}</List>
    </article>
  );
}

function List({ title, children }: Readonly<{ title: string; children: readonly ComponentChildren[] }>) {
  if (children.length === 0) return null;
  return (
    <div>
      <h3>{title}</h3>
      <ul class="notes">{children}</ul>
    </div>
  );
}

function OrderFacts({ order }: Readonly<{ order: OrderView }>) {
  const { decision, result } = order;
  const instructions = order.order['instructions'];
  return (
    <>
      <Facts
        facts={{
          [t.wrapper]: order.worker === order.worker_type ? order.worker : `${order.worker} (${order.worker_type})`,
          [t.reason]: decision?.reason,
          [t.nextStep]: decision?.next,
          [t.resultCode]: decision?.result_code,
          [t.summary]: typeof result?.['summary'] === 'string' ? result['summary'] : null,
        }}
      />
      <details>
        <summary>{t.instructions}</summary>
        <SafeText
          as="pre"
          text={typeof instructions === 'string' ? instructions : JSON.stringify(order.order, null, 2)}
        />
      </details>
      {result === null ? null : (
        <details>
          <summary>{t.reportedResult}</summary>
          <SafeText as="pre" text={JSON.stringify(result, null, 2)} />
        </details>
      )}
    </>
  );
}

/** Draws a comment's delivery to a sink, with a link to it in the outbox, as an item of a list. */
export function drawComment(comment: OutboxMessage): ComponentChildren {
  const address = `/outbox?issue_ref=${encodeURIComponent(comment.issue_ref)}&row=${encodeURIComponent(comment.id)}`;
  return (
    <li key={comment.id}>
      <StateBadge state={comment.state} /> <a href={address}>{comment.sink}</a>{' '}
      <span class="dim">
        <Timestamp at={comment.created_at} /> <SafeText text={comment.delivered_to ?? comment.last_error ?? ''} />
      </span>
    </li>
  );
}

/** The maximum number of settled inbox items and of comments. The executions list has all decisions. */
const MAX_LISTED = 200;

/** Loads an issue and its history: the open inbox items, the newest settled ones and the newest comments. */
export async function loadIssue(
  client: Pick<Client, 'getIssue' | 'listInbox' | 'listOutbox'>,
  issueRef: string,
  signal: AbortSignal,
) {
  const [issue, settled, outbox] = await Promise.all([
    client.getIssue({ ref: issueRef, signal }),
    client.listInbox({ query: { issue_ref: issueRef, settled: 'true', limit: MAX_LISTED }, signal }),
    client.listOutbox({ query: { issue_ref: issueRef, limit: MAX_LISTED }, signal }),
  ]);
  // An item can be settled between the two requests.
  const settledIds = new Set(settled.items.map(({ id }) => id));
  const open = issue.inbox.filter(({ id }) => !settledIds.has(id));
  return { ...issue, history: groupHistory(issue.orders, [...open, ...settled.items], outbox.items) };
}

/** Groups inbox items and comments by order, newest first; those of unlisted orders come last, by run. */
export function groupHistory(
  orders: readonly OrderView[],
  items: readonly InboxItem[],
  messages: readonly OutboxMessage[],
) {
  const runByItem = new Map(items.map(({ id, run_id }) => [id, run_id]));
  const findRun = (message: OutboxMessage): string | undefined => {
    const trigger = readTrigger(message.trigger);
    return trigger.kind === 'run' ? trigger.runId : trigger.kind === 'item' ? runByItem.get(trigger.itemId) : undefined;
  };
  const itemsByRun = groupBy(items, ({ run_id }) => run_id);
  const commentsByRun = groupBy(messages, (message) => findRun(message) ?? NO_RUN);
  const listedRuns = orders.map(({ run_id }) => run_id);
  const unlistedRuns = [...new Set([...itemsByRun.keys(), ...commentsByRun.keys()])].filter(
    (runId) => !listedRuns.includes(runId),
  );
  const ordersByRun = new Map(orders.map((order) => [order.run_id, order]));
  return [...listedRuns, ...unlistedRuns.toSorted().toReversed()].map((runId) => ({
    runId,
    /** Null if the order is too old for the server to list. */
    order: ordersByRun.get(runId) ?? null,
    items: itemsByRun.get(runId) ?? [],
    comments: commentsByRun.get(runId) ?? [],
  }));
}

/** The run id for comments that belong to no run. */
export const NO_RUN = '';
