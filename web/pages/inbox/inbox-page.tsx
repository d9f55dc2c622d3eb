import { canNotify, isNotifying, toggleNotifications } from '../../app/notifications.js';
import { query, route } from '../../app/router.js';
import { waiting, waitingFailure, loadWaiting } from '../../data/waiting.js';
import { FailureNotice, Loading, UpToDate, Notice, Refused } from '../../ui/notice.js';
import { Item } from './item.js';
import { Queue } from './queue-list.js';
import { searchEntries } from './queue.js';
import { useRef } from 'preact/hooks';
import type { InboxItem, WaitingEntry } from '../../../src/server/api/index.js';
import { toPath } from '../../app/route.js';
import { client } from '../../data/client.js';
import { useAction, useLiveList, useResource } from '../../data/resource.js';
import { Badge, labelState } from '../../ui/badge.js';
import { ListFrame } from '../../ui/list-page.js';
import { SafeText } from '../../ui/safe-text.js';
import { isReading, useRowKeys, ROW } from '../../ui/row-table.js';
import { labelResolution } from './decision.js';
import type { FcmpEvent } from '../../../src/events/index.js';
import { hasScope } from '../../app/session.js';
import { findOpenQuestion, type OpenQuestion } from '../../data/read-question.js';
import { Facts, IssueLink } from '../../ui/facts.js';
import { Markdown } from '../../ui/markdown.js';
import { Timestamp } from '../../ui/format.js';
import { ReplyForm } from '../run/reply-box.js';
import { Button, Link } from '../../ui/button.js';
import './inbox.css';

/** Everything waiting for a user, in one queue next to the selected entry, and the settled items. */
export function InboxPage() {
  const showsSettled = query.value.get('show') === 'settled';
  return (
    <>
      <div class="page-head">
        <h1>Inbox</h1>
        {showsSettled ? null : <UpToDate failure={waiting.value === null ? null : waitingFailure.value} live="Live" />}
        <span class="row end">
          <NotifyButton />
          <nav class="row" aria-label="Filter by state">
            <Link label="Waiting" class="button" href="/inbox" aria-current={showsSettled ? undefined : 'true'} />
            <a class="button" href="/inbox?show=settled" aria-current={showsSettled ? 'true' : undefined}>
              Settled
            </a>
          </nav>
        </span>
      </div>
      {showsSettled ? <SettledItems /> : <WaitingEntries />}
    </>
  );
}

/** Notifications are off until the user turns them on. */
function NotifyButton() {
  if (!canNotify) return null;
  return (
    <Button
      label={isNotifying.value ? 'Notifications on' : 'Notify me'}
      aria-pressed={isNotifying.value}
      onClick={() => void toggleNotifications()}
    />
  );
}

function findItemId(): string | null {
  const { value } = route;
  return value.page === 'inbox' ? value.id : null;
}

function WaitingEntries() {
  const waitingList = waiting.value;
  const item = findItemId();
  if (waitingList === null) {
    const failure = waitingFailure.value;
    if (failure === null) return <Loading space="list" />;
    return <FailureNotice title="Cannot load the inbox" failure={failure} reload={() => void loadWaiting()} />;
  }
  const entryId = query.value.get('entry');
  const visibleEntries = searchEntries(waitingList.entries, query.value.get('search') ?? '');
  const isNamed = item !== null || entryId !== null;
  // The first entry is open until the user selects one. On a narrow screen, only the list is shown until then.
  const id = item ?? entryId ?? visibleEntries[0]?.id ?? null;
  const entry = waitingList.entries.find((candidate) => candidate.id === id);
  return (
    <div class={isNamed ? 'inbox has-item' : 'inbox'}>
      <Queue entries={visibleEntries} all={waitingList} chosen={id} isNamed={isNamed} />
      <div class="inbox-detail">
        {entry?.kind === 'result' || (item !== null && entry === undefined) ? (
          <Item key={id} id={id ?? ''} />
        ) : (
          <EntryDetail key={id} entry={entry} isSelected={entryId !== null} />
        )}
      </div>
    </div>
  );
}

function SettledItems() {
  const id = findItemId();
  return (
    <div class={id === null ? 'inbox' : 'inbox has-item'}>
      <div class="inbox-list">
        <InboxList chosen={id} />
      </div>
      <div class="inbox-detail">
        {id === null ? (
          <p class="dim inbox-hint">Select an item. Press j or k to move, Enter to open.</p>
        ) : (
          <Item key={id} id={id} />
        )}
      </div>
    </div>
  );
}

/** The settled items, newest first. */
export function InboxList({ chosen }: Readonly<{ chosen: string | null }>) {
  const rows = useRef<HTMLUListElement>(null);
  const items = useLiveList(
    'settled',
    async (page, signal) => client.listInbox({ query: { ...page, settled: 'true' }, signal }),
    (item) => item.id,
    () => isReading(rows.current),
  );
  useRowKeys(rows);
  return (
    <ListFrame
      listView={items}
      itemName="item"
      order="most recently settled first"
      limitHint="Too many items to list. Each issue page lists its own items."
      empty={<p>No settled items yet. Human decisions are listed here.</p>}
    >
      {(shown) => (
        <ul ref={rows} class="inbox-rows">
          {shown.map((item) => (
            <Entry key={item.id} item={item} isChosen={item.id === chosen} />
          ))}
        </ul>
      )}
    </ListFrame>
  );
}

function Entry({ item, isChosen }: Readonly<{ item: InboxItem; isChosen: boolean }>) {
  const path = `${toPath({ page: 'inbox', id: item.id })}?show=settled`;
  return (
    <li class={isChosen ? 'entry chosen' : 'entry'}>
      <a {...ROW} class="entry-link" href={path} aria-current={isChosen ? 'true' : undefined}>
        <span class="row">
          <strong>{item.issue_ref}</strong>
          <span class="end">
            {item.resolution === null ? null : <Badge>{labelResolution(item.resolution.action)}</Badge>}
          </span>
        </span>
        <SafeText as="span" class="clip" text={item.reason} limit={300} />
        <SafeText as="code" class="dim" text={item.result_code} />
      </a>
    </li>
  );
}

/** A question, a permission request or a failing sink, with everything needed to settle it. */
export function EntryDetail({ entry, isSelected }: Readonly<{ entry: WaitingEntry | undefined; isSelected: boolean }>) {
  if (entry === undefined) {
    return isSelected ? (
      <Notice tone="plain" title="This item is no longer waiting">
        It was settled or has ended. <a href="/inbox">Back to the list</a>
      </Notice>
    ) : null;
  }
  if (entry.kind === 'sink') return <FailingSink entry={entry} />;
  return entry.kind === 'result' ? null : <AgentRequest entry={entry} />;
}

function AgentRequest({ entry }: { readonly entry: Extract<WaitingEntry, { kind: 'question' | 'permission' }> }) {
  const { run, kind, engine, task, at, interaction_id, seq } = entry;
  // The event is loaded because the list truncates the text and has no diffs.
  const event = useResource(`question ${run} ${seq}`, async (signal) => {
    const range = { protocol: 'fcmp', from: String(seq), to: String(seq) } as const;
    const { events } = await client.readHistory({ id: run, query: range, signal });
    // Safe cast: the server is part of the same package.
    return { question: findOpenQuestion(events as readonly FcmpEvent[]) };
  });
  if (event.value === null && event.failure === null) return <Loading />;
  const loadedQuestion = event.value?.question;
  // The server might no longer have the event.
  const question = loadedQuestion?.interactionId === interaction_id ? loadedQuestion : describeEntry(entry);
  const text = question.prompt;
  return (
    <article
      class="card stack question"
      aria-label={`${kind === 'question' ? 'Question' : 'Permission request'} from run ${run}`}
    >
      <header class="row">
        <h2>{kind === 'question' ? `${engine} asks a question` : `${engine} requests permission`}</h2>
        <Badge tone="warn">Waiting</Badge>
        <span class="dim">
          Since <Timestamp at={at} />
        </span>
        <span class="row end">
          <a href={toPath({ page: 'run', id: run })}>Open the run</a>
          <Link label="Back to the list" class="back" href="/inbox" />
        </span>
      </header>
      {kind === 'permission' ? null : (
        <div class="question-text">
          <Markdown text={text} />
        </div>
      )}
      <ReplyForm id={run} question={question} onEnd={() => void loadWaiting()} />
      <Facts
        facts={{
          Task: <SafeText text={task} limit={300} />,
          Issue: entry.issue_ref === null ? null : <IssueLink of={entry.issue_ref} />,
        }}
      />
    </article>
  );
}

/** Describes a question by its list entry, which can be truncated. */
function describeEntry(entry: Extract<WaitingEntry, { kind: 'question' | 'permission' }>): OpenQuestion {
  const { interaction_id: interactionId, text: prompt } = entry;
  if (entry.kind === 'question') return { interactionId, prompt, options: entry.options };
  return { interactionId, prompt, options: [], permission: { options: entry.options } };
}

function FailingSink({ entry }: { readonly entry: Extract<WaitingEntry, { kind: 'sink' }> }) {
  const { sink, state, open, dead, text, at } = entry;
  const redelivery = useAction(async () => client.redeliverSink({ body: { sink } }).finally(() => void loadWaiting()));
  return (
    <article class="card stack" aria-label={`Sink ${sink}`}>
      <header class="row">
        <h2>
          <SafeText text={sink} /> does not accept comments
        </h2>
        <Badge tone="bad">{labelState(state)}</Badge>
        <Link label="Back to the list" class="back end" href="/inbox" />
      </header>
      <Facts
        facts={{
          'Last error': <SafeText text={text} limit={2000} />,
          'Comments being retried': open,
          'Failed comments': dead,
          'Oldest comment': <Timestamp at={at} />,
        }}
      />
      <p>
        Fix the sink, then redeliver its comments. They keep their order, and a delivered comment is not sent twice.
      </p>
      <div class="row">
        {hasScope('decide') ? <Button label="Redeliver all" class="primary" onClick={redelivery.run} /> : null}
        <a href="/outbox?state=dead">Failed comments</a>
        <Refused why={redelivery.failure} />
      </div>
    </article>
  );
}
