/** Finds the first item that meets a condition, which all later items meet too, or the list's length. */
export function findFirstIndex<Item>(list: readonly Item[], isMet: (item: Item) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = list[middle];
    if (item !== undefined && !isMet(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns a copy without undefined fields, as `exactOptionalPropertyTypes` requires. */
export function omitUndefined<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };
}
