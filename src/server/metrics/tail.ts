/** An entry of a list. */
interface Happening {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

interface TailOptions<T> {
  /** Where it starts, in milliseconds since 1970. */
  readonly from: number;
  /** A page of the entries since a time, and the cursor of the next page. */
  readonly list: (
    since: number,
    cursor: string | undefined,
  ) => Promise<{ readonly items: readonly T[]; readonly next_cursor: string | null }>;
  readonly toHappening: (item: T) => Happening;
  /** Claims the entries that this process reports; the others were reported by another one. */
  readonly claim: (ids: readonly string[]) => Promise<readonly string[]>;
  readonly report: (item: T) => void | Promise<void>;
}

/** Clocks of other machines may be behind, and entries are written a moment after they happened. */
const LOOK_BACK_MS = 10_000;
/** The most pages read at once. Lists that start with the oldest continue next time; of others the rest is skipped. */
const MAX_PAGES = 50;

/** Reports every new entry of a list that is left to this process, once, whichever machine wrote it. */
export function createTail<T>({ from, list, toHappening, claim, report }: TailOptions<T>): () => Promise<void> {
  let latest = from;
  /** Entries already reported that may be listed again. */
  let reported = new Map<string, number>();

  async function look(): Promise<void> {
    const since = Math.max(from, latest - LOOK_BACK_MS);
    // Applied only at the end: a list that starts with the newest and fails is read again from the same time.
    let newest = latest;
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { items, next_cursor } = await list(since, cursor);
      const fresh = items.filter((item) => !reported.has(toHappening(item).id));
      const claimed = new Set(await claim(fresh.map((item) => toHappening(item).id)));
      for (const item of fresh) {
        const { id, at } = toHappening(item);
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

  // One at a time: concurrent reads would report entries twice.
  let turn: Promise<void> = Promise.resolve();
  return async () => {
    turn = turn.then(look, look);
    return turn;
  };
}
