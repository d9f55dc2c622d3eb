/**
 * Where a line has a figure between two gaps: there is nothing to draw a line to, so a point has to stand for it.
 *
 * @example
 * lonePoints([1, 2, null, 3, null]) // [3]
 */
export function lonePoints(values: readonly (number | null)[]): number[] {
  const isThere = (index: number): boolean => (values[index] ?? null) !== null;
  return values.flatMap((_, index) => (isThere(index) && !isThere(index - 1) && !isThere(index + 1) ? [index] : []));
}
