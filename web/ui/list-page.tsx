import type { ComponentChildren, RefObject } from 'preact';
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { query } from '../app/router.js';
import type { GetKey, Page, PageInput, LiveListView } from '../server/live-list.js';
import { useLiveList } from '../server/live-list.js';
import { ClearFilters } from './filter-field.js';
import { isReading, useRowKeys } from './use-row-keys.js';
import { formatCount } from './amount.js';
import { capitalize } from './badge.js';
import { FailureNotice, Loading, UpToDate } from './notice.js';

/** A page with filters and a list: live, newest first, navigated with `j` and `k`. */
export function ListPage<Item, Filter extends object>({
  title,
  end,
  itemName,
  itemsName,
  filter,
  fields,
  below,
  names,
  load,
  getKey,
  emptyState,
  summarize,
  children,
}: {
  readonly title: string;
  /** Additional controls at the end of the header. */
  readonly end?: ComponentChildren;
  /** The singular item name: `run`. */
  readonly itemName: string;
  /** The plural item name: `runs`. */
  readonly itemsName: string;
  /** The filter; empty for everything. */
  readonly filter: Filter;
  /** The filter fields. */
  readonly fields: ComponentChildren;
  /** Content between the filter fields and the list. */
  readonly below?: ComponentChildren;
  /** The query parameters of the fields. */
  readonly names: readonly string[];
  readonly load: (query: Filter & PageInput, signal: AbortSignal) => Promise<Page<Item>>;
  readonly getKey: GetKey<Item>;
  /** Summarizes the rows, shown next to their count. */
  readonly summarize?: (items: readonly Item[]) => string;
  /** Shown if the list is empty without a filter. */
  readonly emptyState: ComponentChildren;
  readonly children: (items: readonly Item[], list: RefObject<HTMLTableElement>) => ComponentChildren;
}) {
  const rows = useRef<HTMLTableElement>(null);
  // A narrow screen shows only the search field, unless a filter is set, to leave room for the rows.
  const areFieldsOpen = useSignal(names.some((name) => name !== 'search' && query.peek().has(name)));
  const listView = useLiveList(
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
          {areFieldsOpen.value ? 'Fewer filters' : 'More filters'}
        </button>
      </form>
      {below}
      <ListFrame
        listView={listView}
        itemName={itemName}
        itemsName={itemsName}
        order="newest first"
        summarize={summarize}
        limitHint={`Too many ${itemsName} to list. Use the filters to narrow them down.`}
        empty={
          isFiltered ? (
            <p>
              No {itemsName} match the filters. Clear the filters to see all {itemsName}.
            </p>
          ) : (
            emptyState
          )
        }
      >
        {(items) => children(items, rows)}
      </ListFrame>
    </>
  );
}

/** The frame around a list's rows: new rows, connection state, paging and the empty state. */
export function ListFrame<Item>({
  listView,
  itemName,
  itemsName,
  order,
  empty,
  summarize,
  limitHint,
  children,
}: {
  readonly listView: LiveListView<Item>;
  /** The singular item name: `run`. */
  readonly itemName: string;
  /** The plural item name: `runs`. */
  readonly itemsName: string;
  /** The sort order: `newest first`. */
  readonly order: string;
  readonly empty: ComponentChildren;
  /** Summarizes the rows. */
  readonly summarize?: ((items: readonly Item[]) => string) | undefined;
  /** Shown below the rows if the page cannot list all of them. */
  readonly limitHint: string;
  readonly children: (items: readonly Item[]) => ComponentChildren;
}) {
  const { list, failure, isStale, hasMore, isLoadingMore, loadMore, refresh } = listView;
  if (list === null) {
    if (failure === null) return <Loading space="list" />;
    return <FailureNotice title={`Cannot load the ${itemsName}`} failure={failure} reload={refresh} />;
  }
  const count = list.items.length;
  return (
    <section aria-label={capitalize(itemsName)} aria-busy={isStale}>
      <div class="list-head">
        <p class="dim">
          {list.next === null ? '' : 'The first '}
          {formatCount(count)} {count === 1 ? itemName : itemsName}
          {count > 1 ? `, ${order}` : ''}
        </p>
        {summarize === undefined ? null : <p class="list-sum">{summarize(list.items)}</p>}
        <span aria-live="polite">
          <button type="button" class="new-count" hidden={list.newCount === 0} onClick={() => showNew(refresh)}>
            Show {list.newCount} new
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
            <button type="button" disabled={isLoadingMore} onClick={loadMore}>
              {isLoadingMore ? 'Loading …' : `More ${itemsName}`}
            </button>
          ) : (
            <span class="dim">{limitHint}</span>
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
