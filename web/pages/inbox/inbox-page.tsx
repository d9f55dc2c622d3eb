import { query, route } from '../../app/router.js';
import { InboxList } from './inbox-list.js';
import { Item } from './item.js';
import { Questions } from './questions.js';
import './inbox.css';

/** The list of open items, next to the selected one. */
export function InboxPage() {
  const { value } = route;
  const id = value.page === 'inbox' ? value.id : null;
  const showsSettled = query.value.get('show') === 'settled';
  return (
    <>
      <div class="page-head">
        <h1>Inbox</h1>
        <nav class="row end" aria-label="Which items">
          <a class="button" href="/inbox" aria-current={showsSettled ? undefined : 'true'}>
            Waiting
          </a>
          <a class="button" href="/inbox?show=settled" aria-current={showsSettled ? 'true' : undefined}>
            Settled
          </a>
        </nav>
      </div>
      {showsSettled ? null : <Questions isFolded={id !== null} />}
      <div class={id === null ? 'inbox' : 'inbox has-item'}>
        <div class="inbox-list">
          <InboxList chosen={id} showsSettled={showsSettled} />
        </div>
        {id === null ? (
          <p class="dim inbox-hint">Select an item. Keys: j and k move, Enter opens.</p>
        ) : (
          <Item key={id} id={id} />
        )}
      </div>
    </>
  );
}
