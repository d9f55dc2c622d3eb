import { canNotify, isNotifying, toggleNotifications } from '../../app/notifications.js';
import { navigate, query, route } from '../../app/router.js';
import { getEntryPath, waiting, waitingFailure, loadWaiting } from '../../data/waiting.js';
import { Loaded, Loading, UpToDate, Notice, Badge, labelState, Button, Link } from '../../ui/parts.js';
import { Item } from './item.js';
import { Queue } from './queue-list.js';
import { searchEntries, findNext } from './queue.js';
import { listDelayedIds } from '../../data/delayed-actions.js';
import { Redelivery } from '../../ui/redelivery.js';
import { useRef } from 'preact/hooks';
import type { WaitingEntry } from '../../../src/server/api/index.js';
import { toPath } from '../../app/route.js';
import { client } from '../../data/client.js';
import { useLiveList, useResource } from '../../data/resource.js';
import { ListFrame } from '../../ui/list-page.js';
import { SafeText, Timestamp } from '../../ui/text.js';
import { isReading, useRowKeys, ROW } from '../../ui/row-table.js';
import { labelResolution } from './decision.js';
import type { FcmpEvent } from '../../../src/events/index.js';
import { findOpenQuestion, type OpenQuestion } from '../../data/read-question.js';
import { Facts, IssueLink } from '../../ui/facts.js';
import { Markdown } from '../../ui/markdown.js';
import { ReplyForm } from '../run/reply-box.js';
import './inbox.css';
import { t } from './texts.js';

/** Everything waiting for a user, in one queue next to the selected entry, and the settled items. */
export function InboxPage() {
  const showsSettled = query.value.get('show') === 'settled';
  return (
    <>
      <div class="page-head">
        <h1>{t.pages.inbox}</h1>
        {showsSettled ? null : (
          <UpToDate failure={waiting.value === null ? null : waitingFailure.value} live={t.live} />
        )}
        <span class="row end">
          {/* Notifications are off until the user turns them on. */}
          {canNotify ? (
            <Button
              label={isNotifying.value ? t.notificationsOn : t.notifyMe}
              aria-pressed={isNotifying.value}
              onClick={() => void toggleNotifications()}
            />
          ) : null}
          <nav class="row" aria-label={t.filterByState}>
            <Link
              label={t.states.waiting}
              class="button toggle"
              href="/inbox"
              aria-current={showsSettled ? undefined : 'true'}
            />
            <a class="button toggle" href="/inbox?show=settled" aria-current={showsSettled ? 'true' : undefined}>
              {t.settled}
            </a>
          </nav>
        </span>
      </div>
      {showsSettled ? <SettledItems /> : <WaitingEntries />}
    </>
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
    const resource = { value: null, failure: waitingFailure.value, reload: () => void loadWaiting() };
    return <Loaded resource={resource} title={t.cannotLoadTheInbox} space="list" />;
  }
  const entryId = query.value.get('entry');
  const visibleEntries = searchEntries(waitingList.entries, query.value.get('search') ?? '');
  const isNamed = item !== null || entryId !== null;
  // The first entry is open until the user selects one. On a narrow screen, only the list is shown until then.
  const delayedIds = listDelayedIds();
  const id = item ?? entryId ?? visibleEntries.find((each) => !delayedIds.includes(each.id))?.id ?? null;
  const entry = waitingList.entries.find((candidate) => candidate.id === id);
  return (
    <div class={isNamed ? 'inbox has-item' : 'inbox'}>
      <Queue entries={visibleEntries} all={waitingList} chosen={id} isNamed={isNamed} />
      <div class="inbox-detail">
        {entry?.kind === 'result' || (item !== null && entry === undefined) ? (
          <Item key={id} id={id ?? ''} onDecided={() => openNext(id ?? '')} />
        ) : (
          <EntryDetail key={id} entry={entry} isSelected={entryId !== null} />
        )}
      </div>
    </div>
  );
}

/** Opens the next entry after one was decided; its decision is sent, or withdrawn, meanwhile. */
function openNext(id: string): void {
  const search = query.peek().get('search') ?? '';
  const entries = searchEntries(waiting.peek()?.entries ?? [], search);
  const next = findNext(entries, id, new Set([...listDelayedIds(), id]));
  const path = next === undefined ? '/inbox' : getEntryPath(next);
  if (search === '') return navigate(path);
  navigate(`${path}${path.includes('?') ? '&' : '?'}search=${encodeURIComponent(search)}`);
}

function SettledItems() {
  const id = findItemId();
  const rows = useRef<HTMLUListElement>(null);
  const items = useLiveList(
    'settled',
    async (page, signal) => client.listInbox({ query: { ...page, settled: 'true' }, signal }),
    (item) => item.id,
    () => isReading(rows.current),
  );
  useRowKeys(rows);
  return (
    <div class={id === null ? 'inbox' : 'inbox has-item'}>
      <div class="inbox-list">
        <ListFrame
          listView={items}
          itemName="item"
          order={t.mostRecentlySettledFirst}
          limitHint={t.tooManyItemsToList}
          empty={<p>{t.noSettledItemsYetHuman}</p>}
        >
          {(shown) => (
            <ul ref={rows} class="list inbox-rows">
              {shown.map((item) => (
                <li key={item.id} class={item.id === id ? 'entry chosen' : 'entry'}>
                  <a
                    {...ROW}
                    class="entry-link"
                    href={`${toPath({ page: 'inbox', id: item.id })}?show=settled`}
                    aria-current={item.id === id ? 'true' : undefined}
                  >
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
              ))}
            </ul>
          )}
        </ListFrame>
      </div>
      <div class="inbox-detail">
        {id === null ? (
          <p class="dim inbox-hint">{t.selectAnItemPressJ}</p>
        ) : (
          <Item key={id} id={id} onDecided={() => openNext(id)} />
        )}
      </div>
    </div>
  );
}

/** A question, a permission request or a failing sink, with everything needed to settle it. */
function EntryDetail({ entry, isSelected }: Readonly<{ entry: WaitingEntry | undefined; isSelected: boolean }>) {
  if (entry === undefined) {
    return isSelected ? (
      <Notice tone="plain" title={t.thisItemIsNoLonger}>
        {t.itWasSettledOrHas}
        <a href="/inbox">{t.backToTheList}</a>
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
    <article class="card stack question" aria-label={(kind === 'question' ? t.questionFrom : t.permissionFrom)(run)}>
      <header class="row">
        <h2>{(kind === 'question' ? t.asks : t.requests)(engine)}</h2>
        <Badge tone="warn">{t.states.waiting}</Badge>
        <span class="dim">
          {t.since}
          <Timestamp at={at} />
        </span>
        <span class="row end">
          <a href={toPath({ page: 'run', id: run })}>{t.openTheRun}</a>
          <Link label={t.backToTheList} class="back" href="/inbox" />
        </span>
      </header>
      {kind === 'permission' ? null : (
        <div class="question-text">
          <Markdown text={text} />
        </div>
      )}
      <ReplyForm id={run} question={question} onEnd={() => void loadWaiting()} onDecided={() => openNext(entry.id)} />
      <Facts
        facts={{
          [t.states.task]: <SafeText text={task} limit={300} />,
          [t.issue]: entry.issue_ref === null ? null : <IssueLink of={entry.issue_ref} />,
        }}
      />
    </article>
  );
}

/** Describes a question by its list entry, which can be truncated. */
function describeEntry(entry: Extract<WaitingEntry, { kind: 'question' | 'permission' }>): OpenQuestion {
  const { interaction_id: interactionId, seq, text: prompt } = entry;
  if (entry.kind === 'question') return { interactionId, seq, prompt, options: entry.options };
  return { interactionId, seq, prompt, options: [], permission: { options: entry.options } };
}

function FailingSink({ entry }: { readonly entry: Extract<WaitingEntry, { kind: 'sink' }> }) {
  const { sink, state, open, dead, text, at } = entry;
  return (
    <article class="card stack" aria-label={t.sinkNamed(sink)}>
      <header class="row">
        <h2>
          <SafeText text={sink} />
          {t.doesNotAcceptComments}
        </h2>
        <Badge tone="bad">{labelState(state)}</Badge>
        <Link label={t.backToTheList} class="back end" href="/inbox" />
      </header>
      <Facts
        facts={{
          [t.lastError]: <SafeText text={text} limit={2000} />,
          [t.commentsBeingRetried]: open,
          [t.failedComments]: dead,
          [t.oldestComment]: <Timestamp at={at} />,
        }}
      />
      <p>{t.fixTheSinkThenRedeliver}</p>
      <div class="row">
        <Redelivery name={sink} sink={{ open, dead, error: text }} label={t.redeliverAll} />
        <a href="/outbox?state=dead">{t.failedComments}</a>
      </div>
    </article>
  );
}
