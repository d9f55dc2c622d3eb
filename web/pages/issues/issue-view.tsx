import { toPath } from '../../app/route.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { Badge, chooseTone } from '../../ui/badge.js';
import { FailureNotice, Loading, Notice, UpToDate } from '../../ui/notice.js';
import { Moment } from '../../ui/time.js';
import { SafeText } from '../../ui/safe-text.js';
import { Changes } from '../inbox/change-view.js';
import { groupHistory } from './issue-history.js';
import { OrderCard } from './order-card.js';

/** More than this is found in the audit. */
const MOST = 200;

/** The state of an issue and its history. */
export function IssueView({ issueRef }: { readonly issueRef: string }) {
  const detail = useResource(
    `issue ${issueRef}`,
    async (signal) => {
      const [issue, inbox, outbox] = await Promise.all([
        client.getIssue({ ref: issueRef, signal }),
        client.listInbox({ query: { issue_ref: issueRef, open: 'false', limit: MOST }, signal }),
        client.listOutbox({ query: { issue_ref: issueRef, limit: MOST }, signal }),
      ]);
      return { ...issue, history: groupHistory(issue.orders, inbox.items, outbox.items) };
    },
    { live: true },
  );
  const { value, failure, reload } = detail;
  if (value === null) {
    if (failure === null) return <Loading />;
    return (
      <div class="stack">
        <h1>{issueRef}</h1>
        <FailureNotice title="Cannot load the issue" failure={failure} reload={reload}>
          <a href="/issues">All issues</a>
        </FailureNotice>
      </div>
    );
  }
  const { issue, inbox, history } = value;
  return (
    <>
      <div class="page-head">
        <h1>{issue.issue_ref}</h1>
        <Badge tone={chooseTone(issue.state)}>{issue.state}</Badge>
        <span class="dim">
          changed <Moment at={issue.updated_at} />
        </span>
        <UpToDate failure={failure} />
        <span class="row end">
          <a href={`/executions?issue_ref=${encodeURIComponent(issueRef)}`}>Executions</a>
          <a href={`/outbox?issue_ref=${encodeURIComponent(issueRef)}`}>Outbox</a>
          {hasScope('run') ? (
            <a class="button" href={`${toPath({ page: 'issues', ref: issueRef })}?order`}>
              Submit again
            </a>
          ) : null}
        </span>
      </div>
      {inbox.map((item) => (
        <Notice key={item.id} tone="warn" title="Waiting for a decision">
          <a href={toPath({ page: 'inbox', id: item.id })}>Open in the inbox</a>
        </Notice>
      ))}
      <Race issueRef={issueRef} orders={value.orders} group={issue.active_group ?? value.orders[0]?.group ?? null} />
      <ol class="stack orders" aria-label="Orders, newest first">
        {history.map((entry) => (
          <li key={entry.runId}>
            <OrderCard history={entry} isActive={entry.runId === issue.active_run_id} />
          </li>
        ))}
      </ol>
    </>
  );
}

/** The changes of a race, side by side. */
function Race({
  issueRef,
  orders,
  group,
}: {
  readonly issueRef: string;
  readonly orders: IssueDetail['orders'];
  readonly group: string | null;
}) {
  const runs = group === null ? [] : orders.filter((order) => order.group === group).toReversed();
  if (runs.length === 0) return null;
  return (
    <section class="race" aria-label="Changes of the race, side by side">
      {runs.map(({ run_id, worker, decision }) => (
        <div key={run_id} class="stack">
          <h2>
            {run_id} ({worker})
          </h2>
          {decision === null ? (
            <p class="dim">Not decided yet.</p>
          ) : (
            <p>
              <Badge tone={chooseTone(decision.action)}>{decision.action}</Badge> <SafeText text={decision.reason} />
            </p>
          )}
          <Changes issueRef={issueRef} runId={run_id} review={READ_ONLY} />
        </div>
      ))}
    </section>
  );
}

type IssueDetail = Awaited<ReturnType<typeof client.getIssue>>;

const READ_ONLY = { comments: [], put: null };
