import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { asFailure } from './use-resource.js';
import type { Failure } from './use-resource.js';

/** The query of a list. */
export interface PageInput {
  readonly limit: number;
  readonly cursor?: string;
}

/** A list of the server, as it is shown. */
export interface ShownList<Item> {
  /** Null until the first answer. */
  readonly list: LiveList<Item> | null;
  readonly failure: Failure | null;
  /** The rows are those of the previous query; this one is loading. */
  readonly isOld: boolean;
  readonly isLoadingMore: boolean;
  /** There may be more, and the page can hold them. */
  readonly hasMore: boolean;
  readonly more: () => void;
  /** Asks again now and shows what is new. */
  readonly refresh: () => void;
}

const EVERY_MS = 2000;
const PAGE_SIZE = 50;
/** How much of what is shown is kept up to date. */
const MAX_LIVE = 200;
/** A page with more rows than this is slow; a filter finds a row faster. */
const MAX_SHOWN = 1000;

/**
 * Loads a list and polls it while the page is visible. `question` identifies the query; the rows of the previous query
 * stay until the answer arrives. While `isRead` returns true, rows keep their place.
 *
 * @example
 * const runs = useLiveList(`engine ${engine}`, (page, signal) => client.listRuns({ query: { ...page, engine }, signal }), (run) => run.id)
 */
export function useLiveList<Item>(
  question: string,
  load: (page: PageInput, signal: AbortSignal) => Promise<Page<Item>>,
  getKey: GetKey<Item>,
  isRead: () => boolean = () => false,
): ShownList<Item> {
  const known = useSignal<{ readonly question: string; readonly list: LiveList<Item> } | null>(null);
  const failure = useSignal<Failure | null>(null);
  const isLoadingMore = useSignal(false);
  const asking = useRef<(hold: boolean) => void>(() => undefined);
  const control = useRef(new AbortController());

  useEffect(() => {
    const turn = new AbortController();
    control.current = turn;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (hold: boolean): Promise<void> => {
      clearTimeout(timer);
      if (!document.hidden) {
        const before = known.peek();
        const list = before?.question === question ? before.list : null;
        const limit = Math.min(Math.max(list?.items.length ?? 0, PAGE_SIZE), MAX_LIVE);
        try {
          const page = await load({ limit }, turn.signal);
          if (turn.signal.aborted) return;
          // Older pages may have come meanwhile.
          const present = known.peek();
          const current = present?.question === question ? present.list : null;
          known.value = { question, list: mergeHead(current, page, getKey, { hold: hold && isRead() }) };
          failure.value = null;
        } catch (error) {
          if (turn.signal.aborted) return;
          failure.value = asFailure(error);
        }
      }
      clearTimeout(timer);
      timer = setTimeout(() => void ask(true), EVERY_MS);
    };
    asking.current = (hold) => void ask(hold);
    isLoadingMore.value = false;
    void ask(true);
    return () => {
      turn.abort();
      clearTimeout(timer);
    };
  }, [question]);

  const more = async (): Promise<void> => {
    const { signal } = control.current;
    const cursor = known.peek()?.list.next;
    if (cursor === undefined || cursor === null || isLoadingMore.peek()) return;
    isLoadingMore.value = true;
    try {
      const page = await load({ limit: PAGE_SIZE, cursor }, signal);
      const current = known.peek();
      if (signal.aborted || current === null || current.list.next !== cursor) return;
      known.value = { question: current.question, list: appendPage(current.list, page, getKey) };
      failure.value = null;
    } catch (error) {
      if (!signal.aborted) failure.value = asFailure(error);
    } finally {
      if (!signal.aborted) isLoadingMore.value = false;
    }
  };

  const current = known.value;
  const shown = current?.list.items.length ?? 0;
  return {
    list: current?.list ?? null,
    failure: failure.value,
    isOld: current !== null && current.question !== question,
    isLoadingMore: isLoadingMore.value,
    hasMore: current !== null && current.list.next !== null && shown < MAX_SHOWN,
    more: () => void more(),
    refresh: () => asking.current(false),
  };
}

/** A loaded list: its head is polled, older pages are added on request. */
export interface LiveList<Item> {
  readonly items: readonly Item[];
  /** The cursor of the next page; null at the end. */
  readonly next: string | null;
  /** How many new items are not shown yet. */
  readonly unseen: number;
}

/** A page as list endpoints answer. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/** The permanent key of an item. */
export type GetKey<Item> = (item: Item) => string;

/**
 * Merges the current head of a list: changed items are replaced, deleted ones are removed, new ones are added, and what was
 * loaded below the head stays. With `hold` no item is added or moved: new ones are only counted.
 *
 * @example
 * mergeHead(null, page, getKey, { hold: false }).items // those of the page
 */
export function mergeHead<Item>(
  list: LiveList<Item> | null,
  page: Page<Item>,
  getKey: GetKey<Item>,
  { hold }: { readonly hold: boolean },
): LiveList<Item> {
  const whole = { items: page.items, next: page.next_cursor, unseen: 0 };
  if (list === null || list.items.length === 0) return whole;
  const fresh = new Map(page.items.map((item) => [getKey(item), item]));
  const end = page.next_cursor === null ? list.items.length : countHead(list.items, page.items, getKey);
  if (hold) {
    const known = new Set(list.items.map(getKey));
    return {
      items: list.items.flatMap((item, index) => fresh.get(getKey(item)) ?? (index < end ? [] : [item])),
      next: list.next,
      unseen: page.items.filter((item) => !known.has(getKey(item))).length,
    };
  }
  // With no overlap there may be rows between the two pages, so the older rows are dropped and loaded again.
  if (end === 0) return whole;
  const rest = list.items.slice(end).filter((item) => !fresh.has(getKey(item)));
  if (rest.length === 0) return whole;
  return { items: [...page.items, ...rest], next: list.next, unseen: 0 };
}

/** Adds the page that comes after what is known. */
export function appendPage<Item>(list: LiveList<Item>, page: Page<Item>, getKey: GetKey<Item>): LiveList<Item> {
  const known = new Set(list.items.map(getKey));
  const added = page.items.filter((item) => !known.has(getKey(item)));
  return { ...list, items: [...list.items, ...added], next: page.next_cursor };
}

/** Counts the known items that the head covers: those up to the last one that both have. */
function countHead<Item>(known: readonly Item[], head: readonly Item[], getKey: GetKey<Item>): number {
  const places = new Map(known.map((item, index) => [getKey(item), index]));
  const last = head.findLast((item) => places.has(getKey(item)));
  return last === undefined ? 0 : (places.get(getKey(last)) ?? 0) + 1;
}
