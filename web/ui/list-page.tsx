import type { ComponentChildren, RefObject } from 'preact';
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { query } from '../app/router.js';
import type { GetKey, Page, PageInput, ShownList } from '../server/live-list.js';
import { useLiveList } from '../server/live-list.js';
import { ClearFilters } from './filter-field.js';
import { isReading, useRowKeys } from './use-row-keys.js';
import { formatCount } from './amount.js';
import { FailureNotice, Loading, UpToDate } from './notice.js';

/** A page that is a list with filters above it: live, newest first, walked through with `j` and `k`. */
export function ListPage<Item, Filter extends object>({
  title,
  end,
  one,
  what,
  filter,
  fields,
  below,
  names,
  load,
  getKey,
  nothingYet,
  summarize,
  children,
}: {
  readonly title: string;
  /** Further controls at the end of the head. */
  readonly end?: ComponentChildren;
  /** The name of a row: `run`. */
  readonly one: string;
  /** The name of the rows: `runs`. */
  readonly what: string;
  /** The filter; empty for everything. */
  readonly filter: Filter;
  /** The fields of the filter. */
  readonly fields: ComponentChildren;
  /** Content between the filter fields and the list. */
  readonly below?: ComponentChildren;
  /** The names of the fields in the address. */
  readonly names: readonly string[];
  readonly load: (query: Filter & PageInput, signal: AbortSignal) => Promise<Page<Item>>;
  readonly getKey: GetKey<Item>;
  /** Totals of the rows, next to their number. */
  readonly summarize?: (items: readonly Item[]) => string;
  /** Shown if the list is empty without a filter. */
  readonly nothingYet: ComponentChildren;
  readonly children: (items: readonly Item[], list: RefObject<HTMLTableElement>) => ComponentChildren;
}) {
  const rows = useRef<HTMLTableElement>(null);
  // A narrow screen shows the search only, unless a filter is set: the rows come first.
  const areFieldsOpen = useSignal(names.some((name) => name !== 'search' && query.peek().has(name)));
  const shown = useLiveList(
    JSON.stringify(filter),
    async (page, signal) => load({ ...filter, ...page }, signal),
    getKey,
    () => isReading(rows.current),
  );
  useRowKeys(rows);
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <div class="page-head">
        <h1>{title}</h1>
        {end === undefined ? null : <span class="row end">{end}</span>}
      </div>
      <form
        class={areFieldsOpen.value ? 'filters open' : 'filters'}
        role="search"
        onSubmit={(event) => event.preventDefault()}
      >
        {fields}
        <ClearFilters names={names} />
        <button
          type="button"
          class="filters-toggle"
          aria-expanded={areFieldsOpen.value}
          onClick={() => (areFieldsOpen.value = !areFieldsOpen.value)}
        >
          {areFieldsOpen.value ? 'Fewer filters' : 'Filters'}
        </button>
      </form>
      {below}
      <ListFrame
        shown={shown}
        one={one}
        what={what}
        order="newest first"
        summarize={summarize}
        empty={isFiltered ? <p>No {what} match the filter. Clear it to see all.</p> : nothingYet}
      >
        {(items) => children(items, rows)}
      </ListFrame>
    </>
  );
}

/** The frame around the rows of a list: new rows, connection state, paging and the empty state. */
export function ListFrame<Item>({
  shown,
  one,
  what,
  order,
  empty,
  summarize,
  children,
}: {
  readonly shown: ShownList<Item>;
  /** The name of a row: `run`. */
  readonly one: string;
  /** The name of the rows: `runs`. */
  readonly what: string;
  /** The sort order: `newest first`. */
  readonly order: string;
  readonly empty: ComponentChildren;
  /** The rows added up. */
  readonly summarize?: ((items: readonly Item[]) => string) | undefined;
  readonly children: (items: readonly Item[]) => ComponentChildren;
}) {
  const { list, failure, isOld, hasMore, isLoadingMore, more, refresh } = shown;
  if (list === null) {
    if (failure === null) return <Loading space="list" />;
    return <FailureNotice title={`Cannot load the ${what}`} failure={failure} reload={refresh} />;
  }
  const count = list.items.length;
  return (
    <section aria-label={what} aria-busy={isOld}>
      <div class="list-head">
        <p class="dim">
          {list.next === null ? '' : 'The first '}
          {formatCount(count)} {count === 1 ? one : what}
          {count > 1 ? `, ${order}` : ''}
        </p>
        {summarize === undefined ? null : <p class="list-sum">{summarize(list.items)}</p>}
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
            <span class="dim">Too many to list. Narrow the filter to find others.</span>
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
