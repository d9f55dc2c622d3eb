/** A thing that happened, as a list tells it. */
interface Happening {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What a tail works with. */
export interface TailOptions<T> {
  /** Where it begins; milliseconds since 1970. */
  readonly from: number;
  /** A page of what happened since a moment, and the cursor of the next. */
  readonly list: (
    since: number,
    cursor: string | undefined,
  ) => Promise<{ readonly items: readonly T[]; readonly next_cursor: string | null }>;
  readonly happeningOf: (item: T) => Happening;
  readonly tell: (item: T) => void | Promise<void>;
}

/** Clocks of other machines may be behind, and what they write comes a moment after it happened. */
const LOOK_BACK_MS = 10_000;
/** One look reads no more pages than this. The next goes on where a list begins with the oldest; of others the rest is lost. */
const MOST_PAGES = 50;

/** Tells everything that happens, whichever machine did it, once, in looks that each read only what is new. */
export function createTail<T>({ from, list, happeningOf, tell }: TailOptions<T>): () => Promise<void> {
  let latest = from;
  /** What was told and may be listed again. */
  let told = new Map<string, number>();

  async function look(): Promise<void> {
    const since = Math.max(from, latest - LOOK_BACK_MS);
    // Taken over only at the end: a list that begins with the newest and breaks off is read again from the same moment.
    let newest = latest;
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const { items, next_cursor } = await list(since, cursor);
      for (const item of items) {
        const { id, at } = happeningOf(item);
        newest = Math.max(newest, at);
        if (told.has(id)) continue;
        told.set(id, at);
        await tell(item);
      }
      if (next_cursor === null) break;
      cursor = next_cursor;
    }
    latest = newest;
    told = new Map([...told].filter(([, at]) => at >= latest - LOOK_BACK_MS));
  }

  // One at a time: two that look together would tell everything twice.
  let turn: Promise<void> = Promise.resolve();
  return async () => {
    turn = turn.then(look, look);
    return turn;
  };
}
