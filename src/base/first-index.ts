/**
 * Finds the first item for which a condition holds, by binary search: if it holds for an item, it must hold for all later ones.
 * Returns the length of the list if it holds for none.
 *
 * @example
 * findFirstIndex([1, 3, 5], (number) => number > 2) // 1
 */
export function findFirstIndex<Item>(list: readonly Item[], holds: (item: Item) => boolean): number {
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
