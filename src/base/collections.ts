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

/**
 * Aligns two sequences, pairing as many equal elements as possible, in order. For each element of `other`, the result
 * has the index of its partner in `main`, or -1. An element that occurs twice in both is paired twice. The cost is the
 * product of the lengths without common prefix and suffix, so pass sections of a stream, not all of it; if it is above
 * `maxCost`, only these are paired.
 *
 * @example
 * align(['a', 'c'], ['a', 'b', 'c']) // [0, -1, 1]
 */
export function align(main: readonly string[], other: readonly string[], maxCost = Infinity): number[] {
  const partners = other.map(() => -1);
  let start = 0;
  while (start < main.length && start < other.length && main[start] === other[start]) partners[start] = start++;
  let mainEnd = main.length;
  let otherEnd = other.length;
  while (mainEnd > start && otherEnd > start && main[mainEnd - 1] === other[otherEnd - 1]) {
    mainEnd--;
    otherEnd--;
    partners[otherEnd] = mainEnd;
  }
  if ((mainEnd - start) * (otherEnd - start) > maxCost) return partners;
  alignMiddle(main.slice(start, mainEnd), other.slice(start, otherEnd), (mainIndex, otherIndex) => {
    partners[start + otherIndex] = start + mainIndex;
  });
  return partners;
}

/** Finds the longest common subsequence. */
function alignMiddle(
  main: readonly string[],
  other: readonly string[],
  onPair: (mainIndex: number, otherIndex: number) => void,
): void {
  const width = other.length + 1;
  // Cell [i][j]: the maximum number of pairs between main from i on and other from j on.
  const pairs = new Uint16Array((main.length + 1) * width);
  const at = (i: number, j: number): number => pairs[i * width + j] ?? 0;
  for (let i = main.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      pairs[i * width + j] = main[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  for (let i = 0, j = 0; i < main.length && j < other.length;) {
    if (main[i] === other[j]) onPair(i++, j++);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
}
