/** A list as far as it is known: its head is asked for again and again, older pages are added when asked for. */
export interface LiveList<Item> {
  readonly items: readonly Item[];
  /** Where what comes after begins; null at the end. */
  readonly next: string | null;
  /** How many have come that are not shown yet. */
  readonly unseen: number;
}

/** A page as list endpoints answer. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/** What names an item for good. */
export type KeyOf<Item> = (item: Item) => string;

/**
 * Takes in the head of a list as it is now: what changed is replaced, what is gone is taken out, what is new comes in, and
 * what was loaded below the head stays. With `hold` nothing new comes in and nothing changes its place: it is counted.
 *
 * @example
 * takeHead(null, page, keyOf, { hold: false }).items // those of the page
 */
export function takeHead<Item>(
  list: LiveList<Item> | null,
  page: Page<Item>,
  keyOf: KeyOf<Item>,
  { hold }: { readonly hold: boolean },
): LiveList<Item> {
  const whole = { items: page.items, next: page.next_cursor, unseen: 0 };
  if (list === null || list.items.length === 0) return whole;
  const fresh = new Map(page.items.map((item) => [keyOf(item), item]));
  const end = page.next_cursor === null ? list.items.length : endOfHead(list.items, page.items, keyOf);
  if (hold) {
    const known = new Set(list.items.map(keyOf));
    return {
      items: list.items.flatMap((item, index) => fresh.get(keyOf(item)) ?? (index < end ? [] : [item])),
      next: list.next,
      unseen: page.items.filter((item) => !known.has(keyOf(item))).length,
    };
  }
  // With nothing in common there may be others between the two, so that what was below is asked for anew.
  if (end === 0) return whole;
  const rest = list.items.slice(end).filter((item) => !fresh.has(keyOf(item)));
  if (rest.length === 0) return whole;
  return { items: [...page.items, ...rest], next: list.next, unseen: 0 };
}

/** Adds the page that comes after what is known. */
export function takeMore<Item>(list: LiveList<Item>, page: Page<Item>, keyOf: KeyOf<Item>): LiveList<Item> {
  const known = new Set(list.items.map(keyOf));
  const added = page.items.filter((item) => !known.has(keyOf(item)));
  return { ...list, items: [...list.items, ...added], next: page.next_cursor };
}

/** How many of the known items the head speaks of: those up to the last one that both have. */
function endOfHead<Item>(known: readonly Item[], head: readonly Item[], keyOf: KeyOf<Item>): number {
  const places = new Map(known.map((item, index) => [keyOf(item), index]));
  const last = head.findLast((item) => places.has(keyOf(item)));
  return last === undefined ? 0 : (places.get(keyOf(last)) ?? 0) + 1;
}
