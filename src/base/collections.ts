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

/** Groups values by key, in the order of first occurrence. `Map.groupBy` needs Node.js 21. */
export function groupBy<Key, Value>(values: Iterable<Value>, deriveKey: (value: Value) => Key): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const key = deriveKey(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/** Sets a key as the latest of a map, and removes the keys that were set before the last `limit`. */
export function setLatest<Key, Value>(map: Map<Key, Value>, limit: number, key: Key, value: Value): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= limit) break;
    map.delete(oldest);
  }
}

/** Returns a copy without undefined fields, as `exactOptionalPropertyTypes` requires. */
export function omitUndefined<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };
}
