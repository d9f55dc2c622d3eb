import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { getErrorMessage, isSluiceError } from '../../src/base/index.js';

/** A server resource: loading, loaded or failed. A loaded value stays while it is being refetched. */
export type Resource<Value> = Readonly<{ value: Value | null; failure: Failure | null; reload: () => void }>;

export type Failure = Readonly<{ code: string; message: string }>;

const POLL_MS = 2000;
/** A page that is not used polls less often: it may stay open for days. */
const IDLE_POLL_MS = 10_000;
const IDLE_AFTER_MS = 60_000;
let lastInputAt = performance.now();
for (const type of ['pointermove', 'pointerdown', 'keydown', 'wheel'])
  globalThis.addEventListener?.(type, () => (lastInputAt = performance.now()), { capture: true, passive: true });

const getIdleMs = (): number => performance.now() - lastInputAt;

/** Chooses the delay before the next poll: longer if the page was not used for a minute. */
export function choosePollDelay(idleMs = getIdleMs(), ms = POLL_MS): number {
  return idleMs > IDLE_AFTER_MS ? Math.max(ms, IDLE_POLL_MS) : ms;
}

/** Loads a resource; with `live`, also polls it while the page is visible, or `everyMs`. A new `key` drops it, except for `last`. */
export function useResource<Value>(
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
  { everyMs, live = everyMs !== undefined }: { readonly live?: boolean; readonly everyMs?: number } = {},
): Resource<Value> & { readonly last: Value | null } {
  const value = useSignal<Value | null>(null);
  const last = useRef<Value | null>(null);
  const failure = useSignal<Failure | null>(null);
  const reloadCount = useSignal(0);
  // After the key changes, the value belongs to another request.
  useEffect(() => {
    value.value = null;
    failure.value = null;
  }, [key]);
  const reloads = reloadCount.value;
  last.current = value.value ?? last.current;
  useEffect(() => {
    const control = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const request = async (): Promise<void> => {
      // One-off requests are sent even from a hidden tab, because a page can be opened in the background.
      if (!live || !document.hidden) {
        try {
          const loaded = await load(control.signal);
          if (control.signal.aborted) return;
          value.value = loaded;
          failure.value = null;
        } catch (error) {
          if (control.signal.aborted) return;
          failure.value = asFailure(error);
        }
      }
      if (live) timer = setTimeout(() => void request(), choosePollDelay(getIdleMs(), everyMs));
    };
    void request();
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [key, reloads, live]);
  const reload = (): void => void (reloadCount.value += 1);
  return { value: value.value, last: last.current, failure: failure.value, reload };
}

/** Sends a request when `run` is called, one at a time, and keeps why it failed. */
export function useAction<Input extends readonly unknown[]>(act: (...input: Input) => Promise<unknown>) {
  const state = useSignal<'idle' | 'busy' | 'done' | { readonly failure: string }>('idle');
  const run = async (...input: Input): Promise<void> => {
    if (state.peek() === 'busy') return;
    state.value = 'busy';
    try {
      await act(...input);
      state.value = 'done';
    } catch (error) {
      state.value = { failure: asFailure(error).message };
    }
  };
  const failure = typeof state.value === 'object' ? state.value.failure : null;
  return {
    run: (...input: Input): void => void run(...input),
    isBusy: state.value === 'busy',
    isDone: state.value === 'done',
    failure,
  };
}

export function asFailure(error: unknown): Failure {
  if (isSluiceError(error)) return { code: error.code, message: error.message };
  return { code: 'UNEXPECTED', message: getErrorMessage(error) };
}

export type PageInput = Readonly<{ limit: number; cursor?: string }>;

export type LiveListView<Item> = ReturnType<typeof useLiveList<Item>>;

const PAGE_SIZE = 50;
const MAX_POLLED_ROWS = 200;
/** The maximum number of rows. More would make the page slow, and a filter finds a row faster. */
const MAX_ROWS = 1000;

/** Loads and polls a list. A new query's rows replace the old ones when they arrive; rows being read do not move. */
export function useLiveList<Item>(
  queryKey: string,
  load: (page: PageInput, signal: AbortSignal) => Promise<Page<Item>>,
  getKey: GetKey<Item>,
  isBeingRead: () => boolean = () => false,
) {
  const loaded = useSignal<Readonly<{ queryKey: string; list: LiveList<Item> }> | null>(null);
  const failure = useSignal<Failure | null>(null);
  const isLoadingMore = useSignal(false);
  const reload = useRef<(hold: boolean) => void>(() => undefined);
  const currentControl = useRef(new AbortController());

  useEffect(() => {
    const control = new AbortController();
    currentControl.current = control;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const loadHead = async (hold: boolean): Promise<void> => {
      clearTimeout(timer);
      if (!document.hidden) {
        const before = loaded.peek();
        const list = before?.queryKey === queryKey ? before.list : null;
        const limit = Math.min(Math.max(list?.items.length ?? 0, PAGE_SIZE), MAX_POLLED_ROWS);
        try {
          const page = await load({ limit }, control.signal);
          if (control.signal.aborted) return;
          // Older pages might have arrived meanwhile.
          const currentList = loaded.peek();
          const current = currentList?.queryKey === queryKey ? currentList.list : null;
          loaded.value = { queryKey, list: mergeHead(current, page, getKey, { hold: hold && isBeingRead() }) };
          failure.value = null;
        } catch (error) {
          if (control.signal.aborted) return;
          failure.value = asFailure(error);
        }
      }
      clearTimeout(timer);
      timer = setTimeout(() => void loadHead(true), choosePollDelay());
    };
    reload.current = (hold) => void loadHead(hold);
    isLoadingMore.value = false;
    void loadHead(true);
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [queryKey]);

  const loadMore = async (): Promise<void> => {
    const { signal } = currentControl.current;
    const cursor = loaded.peek()?.list.next;
    if (cursor === undefined || cursor === null || isLoadingMore.peek()) return;
    isLoadingMore.value = true;
    try {
      const page = await load({ limit: PAGE_SIZE, cursor }, signal);
      const current = loaded.peek();
      if (signal.aborted || current === null || current.list.next !== cursor) return;
      loaded.value = { queryKey: current.queryKey, list: appendPage(current.list, page, getKey) };
      failure.value = null;
    } catch (error) {
      if (!signal.aborted) failure.value = asFailure(error);
    } finally {
      if (!signal.aborted) isLoadingMore.value = false;
    }
  };

  const current = loaded.value;
  const rowCount = current?.list.items.length ?? 0;
  return {
    list: current?.list ?? null,
    failure: failure.value,
    /** Whether the rows still belong to the previous query while this one is loading. */
    isStale: current !== null && current.queryKey !== queryKey,
    isLoadingMore: isLoadingMore.value,
    hasMore: current !== null && current.list.next !== null && rowCount < MAX_ROWS,
    loadMore: (): void => void loadMore(),
    refresh: (): void => reload.current(false),
  };
}

/** A loaded list: its head is polled, older pages are added on request. */
export interface LiveList<Item> {
  readonly items: readonly Item[];
  /** The cursor of the next page; null at the end. */
  readonly next: string | null;
  readonly newCount: number;
}

export type Page<Item> = Readonly<{ items: readonly Item[]; next_cursor: string | null }>;

export type GetKey<Item> = (item: Item) => string;

/** Merges the first page into a list and keeps older pages. With `hold`, no item is added or moved, only counted. */
export function mergeHead<Item>(
  list: LiveList<Item> | null,
  page: Page<Item>,
  getKey: GetKey<Item>,
  { hold }: { readonly hold: boolean },
): LiveList<Item> {
  const replacement = { items: page.items, next: page.next_cursor, newCount: 0 };
  if (list === null || list.items.length === 0) return replacement;
  const headItems = new Map(page.items.map((item) => [getKey(item), item]));
  const end = page.next_cursor === null ? list.items.length : countHead(list.items, page.items, getKey);
  if (hold) {
    const knownKeys = new Set(list.items.map(getKey));
    return {
      items: list.items.flatMap((item, index) => headItems.get(getKey(item)) ?? (index < end ? [] : [item])),
      next: list.next,
      newCount: page.items.filter((item) => !knownKeys.has(getKey(item))).length,
    };
  }
  // Without overlap, rows between the two pages could be missing, so the older rows are dropped and loaded again.
  if (end === 0) return replacement;
  const olderItems = list.items.slice(end).filter((item) => !headItems.has(getKey(item)));
  if (olderItems.length === 0) return replacement;
  return { items: [...page.items, ...olderItems], next: list.next, newCount: 0 };
}

export function appendPage<Item>(list: LiveList<Item>, page: Page<Item>, getKey: GetKey<Item>): LiveList<Item> {
  const knownKeys = new Set(list.items.map(getKey));
  const newItems = page.items.filter((item) => !knownKeys.has(getKey(item)));
  return { ...list, items: [...list.items, ...newItems], next: page.next_cursor };
}

/** Counts the known items that the first page covers: all up to the last item on that page. */
function countHead<Item>(knownKeys: readonly Item[], head: readonly Item[], getKey: GetKey<Item>): number {
  const indexes = new Map(knownKeys.map((item, index) => [getKey(item), index]));
  const lastKnown = head.findLast((item) => indexes.has(getKey(item)));
  return lastKnown === undefined ? 0 : (indexes.get(getKey(lastKnown)) ?? 0) + 1;
}
