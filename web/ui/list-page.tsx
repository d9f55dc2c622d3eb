import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { query, setQuery } from '../app/router.js';
import { useLiveList, type LiveListView, type Page, type PageInput, type Resource } from '../data/resource.js';
import { Select, type Option } from './form.js';
import { formatCount, formatDay, formatTimeZone } from './text.js';
import { FailureNotice, Loaded, Loading, UpToDate, Button } from './parts.js';
import { isReading, RowTable, useRowKeys, type Column } from './row-table.js';
import { t } from '../app/texts.js';

/** A filter stored in the query under `name`. `label` is null for a filter without a field, which links set. */
export interface Filter {
  readonly name: string;
  readonly label: string | null;
  readonly kind: 'search' | 'text' | 'choice' | 'from' | 'to';
  readonly placeholder?: string;
  /** The options of a choice; other values are ignored, unless `isOpen`. */
  readonly options?: readonly Option[];
  readonly isOpen?: boolean;
  readonly parameter?: string;
}

const MAX_TEXT_LENGTH = 200;

/** Reads the filters that are set in the query; invalid values are ignored. Days are local, and the last is included. */
export function readFilters(
  filters: readonly Filter[],
  address: URLSearchParams,
  now = Date.now(),
): Readonly<Record<string, string>> {
  const values = filters.flatMap((filter) => {
    const value = readFilter(filter, (address.get(filter.name) ?? '').trim().slice(0, MAX_TEXT_LENGTH), now);
    return value === null || value === '' ? [] : [[filter.parameter ?? filter.name, value]];
  });
  return Object.fromEntries(values) as Readonly<Record<string, string>>;
}

function readFilter({ kind, options = [], isOpen = false }: Filter, text: string, now: number): string | null {
  if (kind === 'from' || kind === 'to') return readBound(text, now, kind === 'from' ? 0 : 1);
  if (kind !== 'choice' || isOpen) return text;
  return options.some((option) => (typeof option === 'string' ? option : option.value) === text) ? text : null;
}

const DAYS_AGO: readonly string[] = ['today', 'yesterday'];

/** Reads a bound: a time, or the start of a local day (`today`, a date), or of the day after it. Otherwise null. */
export function readBound(text: string, now: number, daysLater: 0 | 1): string | null {
  if (/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text)) return Number.isNaN(Date.parse(text)) ? null : text;
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text);
  if (!isDate && !DAYS_AGO.includes(text)) return null;
  const today = new Date(now);
  const [year = 0, month = 1, day = 1] = isDate
    ? text.split('-').map(Number)
    : [today.getFullYear(), today.getMonth() + 1, today.getDate() - DAYS_AGO.indexOf(text)];
  // `Date` maps years below 100 to the twentieth century.
  if (year < 1000) return null;
  const bound = new Date(year, month - 1, day + daysLater);
  return Number.isNaN(bound.getTime()) || bound.getFullYear() > 9999 ? null : bound.toISOString();
}

/** Formats a bound for a date field: its day. */
export function formatBound(text: string, now: number): string {
  const bound = readBound(text, now, 0);
  return bound === null ? '' : formatDay(new Date(bound));
}

/** The field of a filter. A day and an option are applied at once, text when typing pauses. */
export function FilterField({ filter }: Readonly<{ filter: Filter }>) {
  const { name, label, kind, options = [] } = filter;
  if (label === null) return null;
  if (kind === 'search' || kind === 'text') return <FilterText filter={filter} label={label} />;
  const set = (value: string): void => setQuery({ [name]: value }, { isStep: true });
  const value = query.value.get(name) ?? '';
  return (
    <label class={value === '' ? 'chip' : 'chip set'}>
      {kind === 'choice' ? label : `${label} (${formatTimeZone(new Date())})`}
      {kind === 'choice' ? (
        <Select value={value} options={[{ value: '', label: t.all }, ...options]} onChange={set} />
      ) : (
        <input
          type="date"
          value={formatBound(value, Date.now())}
          onChange={({ currentTarget }) => set(currentTarget.value)}
        />
      )}
    </label>
  );
}

const DEBOUNCE_MS = 250;

function FilterText({ filter, label }: Readonly<{ filter: Filter; label: string }>) {
  const { name, kind, placeholder = '' } = filter;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  const value = query.value.get(name) ?? '';
  const lastText = useRef(value);
  // Typed text is overwritten only if Back, a link or a button changed the address. This must be a layout effect: a
  // regular effect runs after the next frame, when the timer could already have restored the old text.
  useLayoutEffect(() => {
    if (value === lastText.current) return;
    clearTimeout(timer.current);
    lastText.current = value;
    if (field.current !== null) field.current.value = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (text: string): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const next = text.trim();
      // A search is one history entry, no matter how often typing pauses.
      const isStep = (lastText.current === '') !== (next === '');
      lastText.current = next;
      setQuery({ [name]: next }, { isStep });
    }, DEBOUNCE_MS);
  };
  return (
    <label class={kind === 'search' ? 'search' : value === '' ? 'chip' : 'chip set'}>
      <span class={kind === 'search' ? 'visually-hidden' : ''}>{label}</span>
      <input
        ref={field}
        type={kind}
        placeholder={placeholder}
        maxLength={MAX_TEXT_LENGTH}
        autocomplete="off"
        spellcheck={false}
        defaultValue={value}
        onInput={(event) => apply(event.currentTarget.value)}
      />
    </label>
  );
}

export function clearFilters(names: readonly string[]): void {
  setQuery(Object.fromEntries(names.map((name) => [name, null])), { isStep: true });
}

/** A page with filters and a table: live, newest first, navigated with `j` and `k`. */
export function ListPage<Item>(props: {
  readonly title: string;
  readonly end?: ComponentChildren;
  readonly itemName: keyof typeof t.items;
  /** The first one is next to the title, the others are chips. */
  readonly filters: readonly Filter[];
  /** Content next to the filters, and below them. */
  readonly beside?: ComponentChildren;
  readonly below?: ComponentChildren;
  readonly load: (query: PageInput & Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<Page<Item>>;
  readonly getKey: (item: Item) => string;
  readonly columns: readonly Column<Item>[];
  readonly details?: (item: Item) => ComponentChildren;
  /** Whether each row is a single line. */
  readonly isDense?: boolean;
  /** Content that arrives together with the rows, above them. */
  readonly above?: (items: readonly Item[]) => ComponentChildren;
  readonly summarize?: (items: readonly Item[]) => string;
  readonly emptyTitle: string;
  readonly emptyText: ComponentChildren;
}) {
  const { end, itemName, filters, load, getKey, columns, details, isDense = false, above, summarize } = props;
  const rows = useRef<HTMLTableElement>(null);
  const names = filters.map(({ name }) => name);
  const values = readFilters(filters, query.value);
  const items = t.items[itemName];
  // A narrow screen shows only the search field, unless a filter is set, to leave room for the rows.
  const areFieldsOpen = useSignal(names.some((name) => name !== 'search' && query.peek().has(name)));
  const listView = useLiveList(
    JSON.stringify(values),
    async (page, signal) => load({ ...values, ...page }, signal),
    getKey,
    () => isReading(rows.current),
  );
  useRowKeys(rows);
  const [search, ...chips] = filters;
  return (
    <>
      <div role="search">
        <div class="page-head">
          <h1>{props.title}</h1>
          {search === undefined ? null : <FilterField filter={search} />}
          {end === undefined ? null : <span class="row end">{end}</span>}
        </div>
        <div class={areFieldsOpen.value ? 'filters open' : 'filters'}>
          {chips.map((filter) => (
            <FilterField key={filter.name} filter={filter} />
          ))}
          <Button
            label={t.clearFilters}
            class="link"
            hidden={!names.some((name) => query.value.has(name))}
            onClick={() => clearFilters(names)}
          />
          {props.beside}
          <Button
            label={areFieldsOpen.value ? t.fewerFilters : t.moreFilters}
            class="narrow-only"
            aria-expanded={areFieldsOpen.value}
            onClick={() => (areFieldsOpen.value = !areFieldsOpen.value)}
          />
        </div>
      </div>
      {props.below}
      <ListFrame
        listView={listView}
        itemName={itemName}
        order={t.newestFirst}
        summarize={summarize}
        limitHint={t.tooManyItems(items)}
        empty={
          Object.keys(values).length === 0 ? (
            <>
              <strong>{props.emptyTitle}</strong>
              <p>{props.emptyText}</p>
            </>
          ) : (
            <p>{t.noItemsMatch(items)}</p>
          )
        }
      >
        {(shown) => (
          <>
            {above?.(shown)}
            <RowTable columns={columns} items={shown} getKey={getKey} details={details} list={rows} isDense={isDense} />
          </>
        )}
      </ListFrame>
    </>
  );
}

/** A page about one resource: its title, whether it is up to date, and its content or what to do if it has none. */
export function ResourcePage<Value>(props: {
  readonly title: string;
  readonly resource: Resource<Value>;
  readonly end?: ComponentChildren;
  readonly isEmpty?: (value: Value) => boolean;
  readonly emptyTitle?: string;
  readonly emptyText?: ComponentChildren;
  readonly children: (value: Value) => ComponentChildren;
}) {
  const { title, resource, end, isEmpty, emptyTitle, emptyText, children } = props;
  return (
    <>
      <div class="page-head">
        <h1>{title}</h1>
        {resource.value === null ? null : <UpToDate failure={resource.failure} />}
        {end === undefined ? null : <span class="row end">{end}</span>}
      </div>
      <Loaded resource={resource} title={t.cannotLoadItems(title.toLowerCase())} space="list">
        {(value) =>
          isEmpty?.(value) === true ? (
            <div class="card empty">
              <strong>{emptyTitle}</strong>
              {emptyText === undefined ? null : <p>{emptyText}</p>}
            </div>
          ) : (
            children(value)
          )
        }
      </Loaded>
    </>
  );
}

/** The frame around a list's rows: new rows, connection state, paging and the empty state. */
export function ListFrame<Item>(props: {
  readonly listView: LiveListView<Item>;
  readonly itemName: keyof typeof t.items;
  readonly order: string;
  readonly empty: ComponentChildren;
  readonly summarize?: ((items: readonly Item[]) => string) | undefined;
  readonly limitHint: string;
  readonly children: (items: readonly Item[]) => ComponentChildren;
}) {
  const { listView, itemName, order, empty, summarize, limitHint, children } = props;
  const name = t.items[itemName];
  const { list, failure, isStale, hasMore, isLoadingMore, loadMore, refresh } = listView;
  if (list === null) {
    if (failure === null) return <Loading space="list" />;
    return <FailureNotice title={t.cannotLoadItems(name)} failure={failure} reload={refresh} />;
  }
  const count = list.items.length;
  const showNew = (): void => {
    scrollTo(0, 0);
    refresh();
  };
  return (
    <section aria-label={t.itemsLabels[itemName]} aria-busy={isStale}>
      <div class="list-head">
        <p class="dim">{t.listed(itemName, count, formatCount(count), { isAll: list.next === null, order })}</p>
        {summarize === undefined ? null : <p class="list-sum">{summarize(list.items)}</p>}
        <span aria-live="polite">
          <button type="button" class="new-count" hidden={list.newCount === 0} onClick={showNew}>
            {t.showNew(list.newCount)}
          </button>
        </span>
        <span class="end">
          <UpToDate failure={failure} live={t.live} />
        </span>
      </div>
      {count === 0 ? <div class="card empty">{empty}</div> : children(list.items)}
      {list.next === null ? null : (
        <p class="list-end">
          {hasMore ? (
            <Button label={isLoadingMore ? t.loading : t.moreItems(name)} disabled={isLoadingMore} onClick={loadMore} />
          ) : (
            <span class="dim">{limitHint}</span>
          )}
        </p>
      )}
    </section>
  );
}
