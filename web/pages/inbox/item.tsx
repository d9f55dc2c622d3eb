import { useSignal } from '@preact/signals';
import type { InboxItem } from '../../../src/api/index.js';
import { toPath } from '../../app/route.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import type { Failure } from '../../server/use-resource.js';
import { Badge } from '../../ui/badge.js';
import { FailureNotice, Loading, UpToDate } from '../../ui/notice.js';
import { RunExports } from '../../ui/run-exports.js';
import { SafeText } from '../../ui/safe-text.js';
import { Timestamp } from '../../ui/time.js';
import { hasScope } from '../../app/session.js';
import { useDraft } from '../../ui/use-draft.js';
import { ChangeView, useChange } from './change-view.js';
import { Decide } from './decide.js';
import { Evidence, OrderRequest } from './evidence.js';
import { putComment, readComments } from './line-comments.js';
import type { LineComment } from './line-comments.js';
import { RawFiles } from './raw-files.js';
import { Settled } from './settled.js';

/** One inbox item: the reason, the evidence and the possible actions. */
export function Item({ id }: { readonly id: string }) {
  const item = useResource(`item ${id}`, async (signal) => client.getInboxItem({ id, signal }), { live: true });
  const isOwnDecision = useSignal(false);
  const draft = useDraft(`review ${id}`, { comments: '[]' });
  const { value, failure, reload } = item;
  const change = useChange(value?.issue_ref ?? null, value?.run_id ?? '');
  if (value === null) {
    if (failure === null) return <Loading />;
    return (
      <FailureNotice title="Cannot load the item" failure={failure} reload={reload}>
        <a href="/inbox">Open the inbox</a>
      </FailureNotice>
    );
  }
  const comments = readComments(draft.fields.comments);
  const isOpen = value.resolution === null && hasScope('decide');
  const setComment = (comment: LineComment): void =>
    draft.change({ comments: JSON.stringify(putComment(comments, comment)) });
  const review = { comments, setComment: isOpen ? setComment : null };
  return (
    <article class="stack item" aria-label={`${value.issue_ref}, ${value.run_id}`}>
      <Head item={value} failure={failure} />
      {value.resolution === null ? null : (
        <Settled item={value} resolution={value.resolution} isMine={isOwnDecision.value} />
      )}
      <Evidence item={value} />
      <OrderRequest issueRef={value.issue_ref} runId={value.run_id} />
      {value.group === undefined ? null : (
        <p>
          This run was part of a race without a winner.{' '}
          <a href={toPath({ page: 'issues', ref: value.issue_ref })}>Compare the runs’ changes</a>
        </p>
      )}
      <ChangeView change={change} review={review} />
      {/* Shown only once the change has arrived: it may be long, and would move everything below it. */}
      {change.value === null && change.failure === null ? null : (
        <>
          <RawFiles run={value.run} />
          <Decide
            item={value}
            comments={comments}
            reload={reload}
            onSettled={() => {
              isOwnDecision.value = true;
              draft.discard();
            }}
          />
        </>
      )}
    </article>
  );
}

function Head({ item, failure }: { readonly item: InboxItem; readonly failure: Failure | null }) {
  return (
    <section class="card stack">
      <div class="row">
        <h2>
          <a href={toPath({ page: 'issues', ref: item.issue_ref })}>{item.issue_ref}</a>
        </h2>
        {item.resolution === null ? <Badge tone="warn">Waiting</Badge> : <Badge>Settled</Badge>}
        <span class="dim">
          Since <Timestamp at={item.created_at} />
        </span>
        <a href={toPath({ page: 'run', id: item.run })}>Run {item.run_id}</a>
        <UpToDate failure={failure} />
        <span class="row end">
          <RunExports id={item.run} hasEnded />
          <a class="back" href="/inbox">
            Back to the list
          </a>
        </span>
      </div>
      <p class="lead">
        <SafeText text={item.reason} />{' '}
        <code class="dim">
          <SafeText text={item.result_code} />
        </code>
      </p>
      <p>
        <strong>Next step:</strong> <SafeText text={item.next} />
      </p>
    </section>
  );
}
