/** A list entry. */
interface TailEntry {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

interface TailOptions<T> {
  /** Start time, in milliseconds since 1970. */
  readonly from: number;
  /** Lists a page of entries since a time, with the cursor of the next page. */
  readonly list: (
    since: number,
    cursor: string | undefined,
  ) => Promise<{ readonly items: readonly T[]; readonly next_cursor: string | null }>;
  readonly toTailEntry: (item: T) => TailEntry;
  /** Claims the entries that this process reports; another process has reported the others. */
  readonly claim: (ids: readonly string[]) => Promise<readonly string[]>;
  readonly report: (item: T) => void | Promise<void>;
}

/**
 * How far back entries are listed again: clocks on other hosts can be slow, and entries are written shortly after the
 * event.
 */
const LOOK_BACK_MS = 10_000;
/**
 * The maximum number of pages in one pass. An oldest-first list continues in the next pass; in a newest-first list,
 * older entries are skipped.
 */
const MAX_PAGES = 50;

/** Reports each new list entry that this process can claim, once, no matter which host wrote it. */
export function createTail<T>({ from, list, toTailEntry, claim, report }: TailOptions<T>): () => Promise<void> {
  let latest = from;
  /** Reported entries that can be listed again. */
  let reported = new Map<string, number>();

  async function reportNew(): Promise<void> {
    const since = Math.max(from, latest - LOOK_BACK_MS);
    // Applied only at the end, so if listing fails, the next pass starts from the same time.
    let newest = latest;
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { items, next_cursor } = await list(since, cursor);
      const unreported = items.filter((item) => !reported.has(toTailEntry(item).id));
      const claimed = new Set(await claim(unreported.map((item) => toTailEntry(item).id)));
      for (const item of unreported) {
        const { id, at } = toTailEntry(item);
        newest = Math.max(newest, at);
        reported.set(id, at);
        if (claimed.has(id)) await report(item);
      }
      if (next_cursor === null) break;
      cursor = next_cursor;
    }
    latest = newest;
    reported = new Map([...reported].filter(([, at]) => at >= latest - LOOK_BACK_MS));
  }

  // One pass at a time: concurrent passes would report entries twice.
  let lastPass: Promise<void> = Promise.resolve();
  return async () => {
    lastPass = lastPass.then(reportNew, reportNew);
    return lastPass;
  };
}
