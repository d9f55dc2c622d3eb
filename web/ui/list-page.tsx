import type { ComponentChildren, RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import type { KeyOf, Page } from '../server/live-list.js';
import { useLiveList } from '../server/use-live-list.js';
import type { PageInput } from '../server/use-live-list.js';
import { ClearFilters } from './filter-field.js';
import { ListFrame } from './list-frame.js';
import { isReading, useRowKeys } from './use-row-keys.js';

/** A page that is a list with filters above it: live, newest first, walked through with `j` and `k`. */
export function ListPage<Item, Filter extends object>({
  title,
  end,
  one,
  what,
  filter,
  fields,
  names,
  load,
  keyOf,
  nothingYet,
  children,
}: {
  readonly title: string;
  /** What else can be done here, at the end of the head. */
  readonly end?: ComponentChildren;
  /** What a row is: `run`. */
  readonly one: string;
  /** What the rows are: `runs`. */
  readonly what: string;
  /** What is asked for; empty for everything. */
  readonly filter: Filter;
  /** The fields of the filter. */
  readonly fields: ComponentChildren;
  /** The names of the fields in the address. */
  readonly names: readonly string[];
  readonly load: (query: Filter & PageInput, signal: AbortSignal) => Promise<Page<Item>>;
  readonly keyOf: KeyOf<Item>;
  /** What to do when there is nothing at all. */
  readonly nothingYet: ComponentChildren;
  readonly children: (items: readonly Item[], list: RefObject<HTMLTableElement>) => ComponentChildren;
}) {
  const rows = useRef<HTMLTableElement>(null);
  const shown = useLiveList(
    JSON.stringify(filter),
    async (page, signal) => load({ ...filter, ...page }, signal),
    keyOf,
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
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        {fields}
        <ClearFilters names={names} />
      </form>
      <ListFrame
        shown={shown}
        one={one}
        what={what}
        order="newest first"
        empty={isFiltered ? <p>No {one} fits the filter. Clear it to see all of them.</p> : nothingYet}
      >
        {(items) => children(items, rows)}
      </ListFrame>
    </>
  );
}
