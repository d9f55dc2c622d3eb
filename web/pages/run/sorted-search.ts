/** The first index from `from` to before `to` for which something holds that holds for all behind it too; else `to`. */
export function firstWhere(from: number, to: number, holds: (index: number) => boolean): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The first index whose number is greater than `value`; the length if there is none. The numbers are in ascending order. */
export function firstAbove(numbers: readonly number[], value: number, from = 0): number {
  return firstWhere(from, numbers.length, (index) => (numbers[index] ?? 0) > value);
}
