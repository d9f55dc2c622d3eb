import type { InboxItem, OrderView, OutboxMessage } from '../../../src/api/index.js';
import { toPath } from '../../app/route.js';
import { Badge, StateBadge } from '../../ui/badge.js';
import { Facts } from '../../ui/facts.js';
import { SafeText } from '../../ui/safe-text.js';
import { formatDuration, Timestamp } from '../../ui/time.js';
import { labelResolution } from '../inbox/decision-request.js';
import { NO_RUN } from './issue-history.js';
import type { OrderHistory } from './issue-history.js';

/** One order: its wrapper, the decision, its inbox items and its comments. */
export function OrderCard({ history, isActive }: { readonly history: OrderHistory; readonly isActive: boolean }) {
  const { runId, order, items, comments } = history;
  return (
    <article class="card stack" aria-label={runId === NO_RUN ? 'Other comments' : runId}>
      <div class="row">
        <h2>
          {order === null ? runId || 'Other comments' : <a href={toPath({ page: 'run', id: order.run })}>{runId}</a>}
        </h2>
        {isActive ? <Badge>Active run</Badge> : null}
        {order !== null ? <OrderState order={order} /> : runId === NO_RUN ? null : <span class="dim">Older order</span>}
      </div>
      {order === null ? null : <OrderFacts order={order} />}
      {items.length === 0 ? null : (
        <div>
          <h3>Inbox items</h3>
          <ul class="notes">
            {items.map((item) => (
              <li key={item.id}>
                <ItemLine item={item} decisionReason={order?.decision?.reason} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {comments.length === 0 ? null : (
        <div>
          <h3>Comments</h3>
          <ul class="notes">
            {comments.map((comment) => (
              <li key={comment.id}>
                <CommentLine comment={comment} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </article>
  );
}

function OrderState({ order }: { readonly order: OrderView }) {
  const { started_at, settled_at } = order;
  return (
    <>
      <StateBadge state={order.decision?.action ?? order.state} />
      <span class="dim">
        Submitted <Timestamp at={order.created_at} />
        {started_at !== null && settled_at !== null
          ? `, took ${formatDuration(Math.max(0, Date.parse(settled_at) - Date.parse(started_at)))}`
          : ''}
      </span>
    </>
  );
}

function OrderFacts({ order }: { readonly order: OrderView }) {
  const { decision, result } = order;
  const instructions = order.order['instructions'];
  return (
    <>
      <Facts
        facts={{
          Wrapper: order.worker === order.worker_type ? order.worker : `${order.worker} (${order.worker_type})`,
          Reason: decision === null ? undefined : <SafeText text={decision.reason} />,
          'Next step': decision === null ? undefined : <SafeText text={decision.next} />,
          'Result code': decision === null ? undefined : <SafeText text={decision.result_code} />,
          Summary: typeof result?.['summary'] === 'string' ? <SafeText text={result['summary']} /> : undefined,
        }}
      />
      <details>
        <summary>Instructions</summary>
        <pre>
          <SafeText text={typeof instructions === 'string' ? instructions : JSON.stringify(order.order, null, 2)} />
        </pre>
      </details>
      {result === null ? null : (
        <details>
          <summary>Reported result</summary>
          <pre>
            <SafeText text={JSON.stringify(result, null, 2)} />
          </pre>
        </details>
      )}
    </>
  );
}

function ItemLine({ item, decisionReason }: { readonly item: InboxItem; readonly decisionReason: string | undefined }) {
  const action = item.resolution?.['action'];
  const who = item.resolution?.['who'];
  return (
    <>
      {item.resolution === null ? <Badge tone="warn">Waiting</Badge> : <Badge>{labelResolution(String(action))}</Badge>}{' '}
      <a href={toPath({ page: 'inbox', id: item.id })}>
        {item.reason !== decisionReason ? (
          <SafeText text={item.reason} limit={200} />
        ) : item.resolution === null ? (
          'Decide on this result'
        ) : (
          'Show the decision'
        )}
      </a>{' '}
      {typeof who === 'string' ? (
        <span class="dim">
          Settled by <SafeText text={who} />
        </span>
      ) : null}
    </>
  );
}

function CommentLine({ comment }: { readonly comment: OutboxMessage }) {
  const address = `/outbox?issue_ref=${encodeURIComponent(comment.issue_ref)}&row=${encodeURIComponent(comment.id)}`;
  return (
    <>
      <StateBadge state={comment.state} /> <a href={address}>{comment.sink}</a>{' '}
      <span class="dim">
        <Timestamp at={comment.created_at} /> <SafeText text={comment.delivered_to ?? comment.last_error ?? ''} />
      </span>
    </>
  );
}
