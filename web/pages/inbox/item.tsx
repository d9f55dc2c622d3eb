import { useSignal } from '@preact/signals';
import type { InboxItem, OrderView } from '../../../src/server/api/index.js';
import { toPath } from '../../app/route.js';
import { client } from '../../data/client.js';
import { useResource, type Failure } from '../../data/resource.js';
import { Badge, StateBadge, Loaded, UpToDate, InlineFailure, Link } from '../../ui/parts.js';
import { RunExports, describeMissingFiles, Facts, Notes, Verdicts, type NoteView } from '../../ui/facts.js';
import { SafeText, Timestamp, formatBytes } from '../../ui/text.js';
import { hasScope } from '../../app/session.js';
import { useDraft } from '../../ui/use-draft.js';
import { drawComment } from '../issues/order-card.js';
import { ChangeView, useChange } from './change-view.js';
import { Decide } from './decide.js';
import { putComment, readComments, describeResolution, type LineComment } from './decision.js';
import { t } from './texts.js';

export function Item({ id, onDecided }: Readonly<{ id: string; onDecided: () => void }>) {
  const item = useResource(`item ${id}`, async (signal) => client.getInboxItem({ id, signal }), { live: true });
  const draft = useDraft(`review ${id}`, { comments: '[]' });
  const { value, failure, reload } = item;
  const change = useChange(value?.issue_ref ?? null, value?.run_id ?? '');
  if (value === null) {
    return <Loaded resource={item} title={t.cannotLoadTheItem} hint={<a href="/inbox">{t.openTheInbox}</a>} />;
  }
  const comments = readComments(draft.fields.comments);
  const isOpen = value.resolution === null && hasScope('decide');
  const setComment = (comment: LineComment): void =>
    draft.change({ comments: JSON.stringify(putComment(comments, comment)) });
  const review = { comments, setComment: isOpen ? setComment : null };
  return (
    <article class="stack item" aria-label={`${value.issue_ref}, ${value.run_id}`}>
      <Head item={value} failure={failure} />
      {value.resolution === null ? null : <Settled item={value} resolution={value.resolution} />}
      <Evidence item={value} />
      <OrderRequest issueRef={value.issue_ref} runId={value.run_id} />
      {value.group === undefined ? null : (
        <p>
          {t.thisRunWasPartOf} <a href={toPath({ page: 'issues', ref: value.issue_ref })}>{t.compareTheRunsChanges}</a>
        </p>
      )}
      <ChangeView change={change} review={review} />
      {/* Shown only once the change has arrived: it may be long, and would move everything below it. */}
      {change.value === null && change.failure === null ? null : (
        <>
          <RawFiles run={value.run} />
          <Decide item={value} comments={comments} reload={reload} onDecided={onDecided} onSent={draft.discard} />
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
        {item.resolution === null ? <Badge tone="warn">{t.states.waiting}</Badge> : <Badge>{t.settled}</Badge>}
        <span class="dim">
          {t.since}
          <Timestamp at={item.created_at} />
        </span>
        <a href={toPath({ page: 'run', id: item.run })}>{t.run(item.run_id)}</a>
        <UpToDate failure={failure} />
        <Link label={t.backToTheList} class="back end" href="/inbox" />
      </div>
      <SafeText as="p" class="lead" text={item.reason} /> <SafeText as="code" class="dim" text={item.result_code} />
      <p>
        <strong>{t.nextStep}</strong> <SafeText text={item.next} />
      </p>
    </section>
  );
}

function Evidence({ item }: Readonly<{ item: InboxItem }>) {
  const { reading } = item;
  const { result, draft, anchors = {}, notices = [] } = reading;
  const hints = Object.entries(anchors).map(([name, value]) => `${name}: ${value}`);
  const check = checkCommit(reading);
  return (
    <section class="card stack">
      <h2>{t.evidence}</h2>
      <Facts
        facts={{
          [t.readFrom]: describeSource(reading),
          [t.exitCode]: item.exit_code ? <Badge tone="bad">{item.exit_code}</Badge> : (item.exit_code ?? t.none),
          [t.signal]: item.signal,
          [t.claims.commit]:
            check === 'none' ? t.none : <Badge tone={COMMIT_LABELS[check].tone}>{COMMIT_LABELS[check].label}</Badge>,
          [t.hintsInTheOutput]: hints.length === 0 ? null : hints.join('\n'),
        }}
      />
      {item.evidence === undefined || item.evidence.length === 0 ? null : <Verdicts evidence={item.evidence} />}
      <NoteSection title={t.problems} notes={reading.problems} />
      <NoteSection title={t.notices} notes={notices} />
      {result === undefined ? null : <JsonSection title={t.states.result} value={result} />}
      {result === undefined && draft !== undefined ? (
        <JsonSection title={t.repairedDraftFillsInThe} value={draft} />
      ) : null}
    </section>
  );
}

const COMMIT_LABELS = {
  found: { tone: 'good', label: t.foundInTheRepository },
  missing: { tone: 'bad', label: t.notInTheRepository },
  unchecked: { tone: 'plain', label: t.notChecked },
} as const;

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

function OrderRequest({ issueRef, runId }: Readonly<{ issueRef: string; runId: string }>) {
  const issue = useResource(`order ${issueRef} ${runId}`, async (signal) =>
    client.getIssue({ ref: issueRef, query: { run_id: runId }, signal }),
  );
  const order = issue.value?.orders.find(({ run_id }) => run_id === runId);
  const text = (name: keyof OrderView['order']): string | undefined => {
    const value = order?.order[name];
    return typeof value === 'object' ? value.join('\n') || undefined : value?.toString();
  };
  return (
    <details class="card">
      <summary>
        <strong>{t.workOrder}</strong>
      </summary>
      <Loaded resource={issue}>
        {() =>
          order === undefined ? (
            <p class="dim">{t.theOrderNoLongerExists}</p>
          ) : (
            <Facts
              facts={{
                [t.wrapper]: `${order.worker} (${order.worker_type})`,
                [t.role]: text('role'),
                [t.repository]: text('repo') ?? text('repo_dir'),
                [t.instructions]: text('instructions'),
                [t.constraints]: text('constraints'),
                [t.specification]: text('spec_ref'),
                [t.contracts]: text('contracts_ref'),
                [t.dependsOn]: text('depends_on'),
              }}
            />
          )
        }
      </Loaded>
    </details>
  );
}

function Settled(props: Readonly<{ item: InboxItem; resolution: NonNullable<InboxItem['resolution']> }>) {
  const { item, resolution } = props;
  const { who, action, why, at, new_run_id: newRun } = resolution;
  // An item that was closed by a new order has neither.
  const { decision, result } = 'decision' in resolution ? resolution : {};
  return (
    <section class="card stack settled" aria-label={t.settled}>
      <h2>
        <SafeText text={who} /> {describeResolution(action)}
      </h2>
      <Facts
        facts={{
          [t.reason]: why,
          [t.decided]: <Timestamp at={at} />,
          [t.decision]: decision && <StateBadge state={decision} />,
          [t.newRun]: newRun && <a href={toPath({ page: 'issues', ref: item.issue_ref })}>{newRun}</a>,
          [t.states.comment]: (
            <div class="deliveries-here">
              <Deliveries issueRef={item.issue_ref} trigger={`resolve:${item.id}`} />
            </div>
          ),
        }}
      />
      {result === undefined ? null : (
        <details>
          <summary>{t.acceptedResult}</summary>
          <SafeText as="pre" text={JSON.stringify(result, null, 2)} />
        </details>
      )}
    </section>
  );
}

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
      <span class="dim">{outbox.value.next_cursor === null ? t.noComment : t.notAmongTheIssuesNewest(MAX_LISTED)}</span>
    );
  }
  return <ul class="notes">{messages.map(drawComment)}</ul>;
}

type Reading = InboxItem['reading'];

export function describeSource({ source, path }: Reading): string {
  return path === undefined || source === 'none' ? t.sources[source] : `${t.sources[source]}: ${path}`;
}

export function checkCommit({ result, problems, notices = [] }: Reading): 'none' | keyof typeof COMMIT_LABELS {
  if (result?.changes.commit === undefined) return 'none';
  const codes = [...problems, ...notices].map(({ code }) => code);
  if (codes.includes('COMMIT_NOT_FOUND')) return 'missing';
  return codes.some((code) => code === 'COMMIT_UNCHECKED' || code === 'NOT_A_REPOSITORY') ? 'unchecked' : 'found';
}

/** The run's files: the order, the result and the output, unchanged. */
function RawFiles({ run }: Readonly<{ run: string }>) {
  const files = useResource(`files ${run}`, async (signal) => client.listRunFiles({ id: run, signal }));
  const evidence = files.value?.evidence ?? [];
  const agentFiles = evidence.filter(({ name }) => isAgentFile(name));
  const recordFiles = evidence.filter(({ name }) => !isAgentFile(name));
  return (
    <section class="card raw-files" aria-label={t.rawFiles}>
      <div class="row">
        <h2>{t.rawFiles}</h2>
        <span class="row end">
          <Link label={t.openTheRun} href={toPath({ page: 'run', id: run })} />
          <RunExports id={run} hasEnded />
        </span>
      </div>
      {agentFiles.map((file) => (
        <File key={file.name} run={run} {...file} />
      ))}
      {recordFiles.length === 0 ? null : (
        <details>
          <summary>{t.filesBySluice(recordFiles.length)}</summary>
          {recordFiles.map((file) => (
            <File key={file.name} run={run} {...file} />
          ))}
        </details>
      )}
      {files.value !== null && evidence.length === 0 ? (
        <SafeText as="p" class="dim" text={describeMissingFiles(files.value)} />
      ) : null}
      {files.failure === null ? null : <InlineFailure failure={files.failure} reload={files.reload} />}
    </section>
  );
}

function File({ run, name, size }: Readonly<{ run: string; name: string; size: number }>) {
  const isOpen = useSignal(false);
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>
        <code>{name}</code> <span class="dim">{formatBytes(size)}</span>
      </summary>
      {isOpen.value ? <Content run={run} name={name} /> : null}
    </details>
  );
}

function Content({ run, name }: Readonly<{ run: string; name: string }>) {
  const file = useResource(`evidence ${run} ${name}`, async (signal) => client.readEvidence({ id: run, name, signal }));
  const { value } = file;
  if (value === null) return <Loaded resource={file} />;
  if (value.text === '') return <p class="dim">{t.emptyFile}</p>;
  return (
    <>
      <SafeText as="pre" text={value.text} />
      {value.totalBytes > DEFAULT_RANGE_BYTES ? (
        <p class="dim">{t.firstBytes(formatBytes(DEFAULT_RANGE_BYTES), formatBytes(value.totalBytes))}</p>
      ) : null}
    </>
  );
}

/** The number of bytes the server sends when no range is requested. */
const DEFAULT_RANGE_BYTES = 1024 * 1024;

/** Whether a file was written by or for the agent; all others are Sluice's own records. */
export function isAgentFile(name: string): boolean {
  return /^(?:work_(?:order|result)\.|stdout\.|stderr\.|pty-output\.)/.test(name);
}
