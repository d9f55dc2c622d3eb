import type { ComponentChildren } from 'preact';
import type { ShownList } from '../server/use-live-list.js';
import { amountOf } from './amount.js';
import { FailureNotice } from './failure-notice.js';
import { Loading } from './loading.js';
import { UpToDate } from './up-to-date.js';

/** What stands around the rows of a list: what is new, whether the server answers, more, and what to do when there is nothing. */
export function ListFrame<Item>({
  shown,
  one,
  what,
  order,
  empty,
  children,
}: {
  readonly shown: ShownList<Item>;
  /** What a row is: `run`. */
  readonly one: string;
  /** What the rows are: `runs`. */
  readonly what: string;
  /** How they are sorted: `newest first`. */
  readonly order: string;
  readonly empty: ComponentChildren;
  readonly children: (items: readonly Item[]) => ComponentChildren;
}) {
  const { list, failure, isOld, hasMore, isLoadingMore, more, refresh } = shown;
  if (list === null) {
    if (failure === null) return <Loading isList />;
    return <FailureNotice title={`The ${what} could not be read`} failure={failure} reload={refresh} />;
  }
  const count = list.items.length;
  return (
    <section aria-label={what} aria-busy={isOld}>
      <div class="list-head">
        <p class="dim">
          {list.next === null ? '' : 'The first '}
          {amountOf(count)} {count === 1 ? one : what}
          {count > 1 ? `, ${order}` : ''}
        </p>
        <span aria-live="polite">
          <button type="button" class="unseen-count" hidden={list.unseen === 0} onClick={() => showNew(refresh)}>
            Show {list.unseen} new
          </button>
        </span>
        <span class="end">
          <UpToDate failure={failure} live="Live" />
        </span>
      </div>
      {count === 0 ? <div class="card empty">{empty}</div> : children(list.items)}
      {list.next === null ? null : (
        <p class="list-end">
          {hasMore ? (
            <button type="button" disabled={isLoadingMore} onClick={more}>
              {isLoadingMore ? 'Loading …' : `More ${what}`}
            </button>
          ) : (
            <span class="dim">There are more than a page can hold: narrow the filter to find others.</span>
          )}
        </p>
      )}
    </section>
  );
}

function showNew(refresh: () => void): void {
  scrollTo(0, 0);
  refresh();
}
