/** Finds the first index below `count` that meets a monotonic condition; otherwise `count`. */
export function findFirst(count: number, meets: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (meets(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Finds the first index whose number is greater than `value`; otherwise the length. The numbers must be in ascending
 * order.
 */
export function findFirstAbove(numbers: readonly number[], value: number): number {
  return findFirst(numbers.length, (index) => (numbers[index] ?? 0) > value);
}
