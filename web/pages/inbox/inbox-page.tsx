import { canNotify, isNotifying, toggleNotifications } from '../../app/notifications.js';
import { query, route } from '../../app/router.js';
import { waiting, waitingFailure, loadWaiting } from '../../server/waiting.js';
import { FailureNotice, Loading, UpToDate } from '../../ui/notice.js';
import { EntryDetail } from './entry-detail.js';
import { InboxList } from './inbox-list.js';
import { Item } from './item.js';
import { Queue } from './queue-list.js';
import { searchEntries } from './queue.js';
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
            <a class="button" href="/inbox" aria-current={showsSettled ? undefined : 'true'}>
              Waiting
            </a>
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
    <button type="button" aria-pressed={isNotifying.value} onClick={() => void toggleNotifications()}>
      {isNotifying.value ? 'Notifications on' : 'Notify me'}
    </button>
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
