import { query, route } from '../../app/router.js';
import { Loading } from '../../ui/notice.js';
import { InboxList } from './inbox-list.js';
import { Item } from './item.js';
import { Questions, useQuestions } from './questions.js';
import './inbox.css';

/** What waits for a person: questions first, then the list of items next to the selected one. */
export function InboxPage() {
  const { value } = route;
  const id = value.page === 'inbox' ? value.id : null;
  const { asked, reload } = useQuestions();
  const showsSettled = query.value.get('show') === 'settled';
  const showsQuestions = id === null && !showsSettled;
  const count = asked?.length ?? 0;
  return (
    <>
      <div class="page-head">
        <h1>Inbox</h1>
        {showsQuestions || count === 0 ? null : (
          <a href="/inbox">{count === 1 ? '1 question to answer' : `${count} questions to answer`}</a>
        )}
        <nav class="row end" aria-label="Filter by state">
          <a class="button" href="/inbox" aria-current={showsSettled ? undefined : 'true'}>
            Waiting
          </a>
          <a class="button" href="/inbox?show=settled" aria-current={showsSettled ? 'true' : undefined}>
            Settled
          </a>
        </nav>
      </div>
      {showsQuestions && asked !== null ? <Questions asked={asked} reload={reload} /> : null}
      {/* Not before the questions are known: they come first, and would push the list down. */}
      {showsQuestions && asked === null ? (
        <Loading isList />
      ) : (
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
      )}
    </>
  );
}
