import { useSignal } from '@preact/signals';
import type { InboxItem, OrderView } from '../../../src/server/api/index.js';
import { toPath } from '../../app/route.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import type { Failure } from '../../data/resource.js';
import { Badge, StateBadge } from '../../ui/badge.js';
import { FailureNotice, Loading, UpToDate, InlineFailure } from '../../ui/notice.js';
import { RunExports } from '../../ui/run-files.js';
import { SafeText } from '../../ui/safe-text.js';
import { Timestamp } from '../../ui/format.js';
import { hasScope } from '../../app/session.js';
import { useDraft } from '../../ui/use-draft.js';
import { ChangeView, useChange } from './change-view.js';
import { Decide } from './decide.js';
import { putComment, readComments, describeResolution } from './decision.js';
import type { LineComment } from './decision.js';
import { RawFiles } from './raw-files.js';
import { Facts, Notes, Verdicts } from '../../ui/facts.js';
import type { NoteView } from '../../ui/facts.js';
import { useEffect, useRef } from 'preact/hooks';

/** One inbox item: the reason, the evidence and the possible actions. */
export function Item({ id }: Readonly<{ id: string }>) {
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

function Head({ item, failure }: Readonly<{ item: InboxItem; failure: Failure | null }>) {
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
      <SafeText as="p" class="lead" text={item.reason} /> <SafeText as="code" class="dim" text={item.result_code} />
      <p>
        <strong>Next step:</strong> <SafeText text={item.next} />
      </p>
    </section>
  );
}

/** The evidence for a decision: the exit code, the commit, the verdicts, and the result that was read. */
function Evidence({ item }: Readonly<{ item: InboxItem }>) {
  const { reading } = item;
  const { result, draft, anchors = {}, notices = [] } = reading;
  const hints = Object.entries(anchors).map(([name, value]) => `${name}: ${value}`);
  return (
    <section class="card stack">
      <h2>Evidence</h2>
      <Facts
        facts={{
          'Read from': <SafeText text={describeSource(reading)} />,
          'Exit code': item.exit_code === null ? 'None' : <ExitCode code={item.exit_code} />,
          Signal: item.signal ?? undefined,
          Commit: <Commit check={checkCommit(reading)} />,
          'Hints in the output': hints.length === 0 ? undefined : <SafeText text={hints.join('\n')} />,
        }}
      />
      {item.evidence === undefined || item.evidence.length === 0 ? null : <Verdicts evidence={item.evidence} />}
      <NoteSection title="Problems" notes={reading.problems} />
      <NoteSection title="Notices" notes={notices} />
      {result === undefined ? null : <JsonSection title="Result" value={result} />}
      {result === undefined && draft !== undefined ? (
        <JsonSection title="Repaired draft (fills in the form below; never accepted automatically)" value={draft} />
      ) : null}
    </section>
  );
}

function ExitCode({ code }: Readonly<{ code: number }>) {
  return code === 0 ? <>0</> : <Badge tone="bad">{code}</Badge>;
}

function Commit({ check }: Readonly<{ check: CommitCheck }>) {
  switch (check) {
    case 'none':
      return <span class="dim">None</span>;
    case 'found':
      return <Badge tone="good">Found in the repository</Badge>;
    case 'not found':
      return <Badge tone="bad">Not in the repository</Badge>;
    case 'not checked':
      return <Badge tone="warn">Not checked</Badge>;
  }
}

function NoteSection({ title, notes }: Readonly<{ title: string; notes: readonly NoteView[] }>) {
  if (notes.length === 0) return null;
  return (
    <div>
      <h3>{title}</h3>
      <Notes notes={notes} />
    </div>
  );
}

function JsonSection({ title, value }: Readonly<{ title: string; value: unknown }>) {
  return (
    <div>
      <h3>{title}</h3>
      <SafeText as="pre" text={JSON.stringify(value, null, 2)} />
    </div>
  );
}

/** The order that the agent executed, needed to judge the result. */
function OrderRequest({ issueRef, runId }: Readonly<{ issueRef: string; runId: string }>) {
  const issue = useResource(`order ${issueRef} ${runId}`, async (signal) =>
    client.getIssue({ ref: issueRef, query: { run_id: runId }, signal }),
  );
  const order = issue.value?.orders.find(({ run_id }) => run_id === runId);
  const text = (name: keyof OrderView['order']) => {
    const value = order?.order[name];
    if (typeof value === 'string') return <SafeText text={value} />;
    return typeof value === 'object' && value.length > 0 ? <SafeText text={value.join('\n')} /> : undefined;
  };
  return (
    <details class="card">
      <summary>
        <strong>Work order</strong>
      </summary>
      {issue.value === null && issue.failure !== null ? (
        <InlineFailure failure={issue.failure} reload={issue.reload} />
      ) : issue.value === null ? (
        <Loading space="line" />
      ) : order === undefined ? (
        <p class="dim">The order no longer exists.</p>
      ) : (
        <Facts
          facts={{
            Wrapper: `${order.worker} (${order.worker_type})`,
            Role: text('role'),
            Repository: text('repo') ?? text('repo_dir'),
            Instructions: text('instructions'),
            Constraints: text('constraints'),
            Specification: text('spec_ref'),
            Contracts: text('contracts_ref'),
            'Depends on': text('depends_on'),
          }}
        />
      )}
    </details>
  );
}

function Settled({
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
          <SafeText as="pre" text={JSON.stringify(result, null, 2)} />
        </details>
      )}
    </section>
  );
}

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

function Deliveries({ issueRef, trigger }: Readonly<{ issueRef: string; trigger: string }>) {
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

type Reading = InboxItem['reading'];

type CommitCheck = 'none' | 'found' | 'not found' | 'not checked';

const SOURCES: Readonly<Record<Reading['source'], string>> = {
  json: 'JSON file',
  text: 'Text file',
  streams: 'Output streams (not a result)',
  none: 'Nothing: the agent left no result',
};

/** Describes where a result was found. */
export function describeSource({ source, path }: Reading): string {
  return path === undefined || source === 'none' ? SOURCES[source] : `${SOURCES[source]}: ${path}`;
}

/** Returns the lookup outcome for the commit that a result names. */
export function checkCommit({ result, problems, notices = [] }: Reading): CommitCheck {
  if (result?.changes.commit === undefined) return 'none';
  const codes = [...problems, ...notices].map(({ code }) => code);
  if (codes.includes('COMMIT_NOT_FOUND')) return 'not found';
  return UNCHECKED.some((code) => codes.includes(code)) ? 'not checked' : 'found';
}

/** Error codes of failed commit lookups. `COMMIT_NOT_CHECKED` occurs in records written by version 0.1.0. */
const UNCHECKED = ['COMMIT_UNCHECKED', 'NOT_A_REPOSITORY', 'COMMIT_NOT_CHECKED'];
