/** The first index below `count` for which a monotonic condition holds; `count` if there is none. */
export function firstWhere(count: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The first index whose number is greater than `value`; the length if there is none. The numbers are in ascending order. */
export function firstAbove(numbers: readonly number[], value: number): number {
  return firstWhere(numbers.length, (index) => (numbers[index] ?? 0) > value);
}
