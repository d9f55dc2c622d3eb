/**
 * Aligns two sequences, pairing as many equal elements as possible, in order. For each element of `other`, the result
 * has the index of its partner in `main`, or -1. An element that occurs twice in both is paired twice. The cost is the
 * product of the lengths without common prefix and suffix, so pass sections of a stream, not all of it.
 *
 * @example
 * align(['a', 'c'], ['a', 'b', 'c']) // [0, -1, 1]
 */
export function align(main: readonly string[], other: readonly string[]): number[] {
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
