/**
 * The first index from which on a statement holds, or the length of the list. It must hold for all that follow.
 *
 * @example
 * firstIndexThat([1, 3, 5], (number) => number > 2) // 1
 */
export function firstIndexThat<Item>(list: readonly Item[], holds: (item: Item) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = list[middle];
    if (item !== undefined && !holds(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
