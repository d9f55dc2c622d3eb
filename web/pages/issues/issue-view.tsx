import { toPath } from '../../app/route.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { StateBadge } from '../../ui/badge.js';
import { FailureNotice, Loading, Notice, UpToDate } from '../../ui/notice.js';
import { Timestamp } from '../../ui/time.js';
import { loadIssue } from './issue-history.js';
import { OrderCard } from './order-card.js';
import { RaceView } from './race-view.js';

/** An issue's state and history. */
export function IssueView({ issueRef }: { readonly issueRef: string }) {
  const detail = useResource(
    `issue ${issueRef}`,
    async (signal) => {
      return loadIssue(client, issueRef, signal);
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
        <StateBadge state={issue.state} />
        <span class="dim">
          Changed <Timestamp at={issue.updated_at} />
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
      {inbox.length === 0 ? null : (
        <Notice
          tone="warn"
          title={
            inbox.length === 1
              ? 'A result is waiting for a decision'
              : `${inbox.length} results are waiting for a decision`
          }
        >
          <span class="row">
            {inbox.map((item) => (
              <a key={item.id} href={toPath({ page: 'inbox', id: item.id })}>
                {inbox.length === 1 ? 'Open in the inbox' : item.run_id}
              </a>
            ))}
          </span>
        </Notice>
      )}
      <RaceView issueRef={issueRef} orders={value.orders} />
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
