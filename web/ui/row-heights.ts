/** How high the rows of a list are, as far as they have been seen, and where each of them begins. */
export interface RowHeights {
  /** Where a row begins; of the row after the last, where the list ends. */
  readonly top: (index: number) => number;
  readonly height: (index: number) => number;
  /** The row at this many pixels from the beginning; beyond the end, the last of this many rows. */
  readonly at: (offset: number, count: number) => number;
  /** Notes a height that was measured; returns by how much the row has grown. */
  readonly measure: (index: number, height: number) => number;
}

/**
 * Heights of any number of rows. Rows that were never visible have the estimate and cost nothing; every lookup takes as many
 * steps as the number of rows has binary digits, so a list that grows by an event costs no more at a million rows.
 *
 * @example
 * const heights = createRowHeights(20)
 * heights.measure(3, 50)
 * heights.top(5) // 130
 */
export function createRowHeights(estimate: number): RowHeights {
  // A Fenwick tree over how much each row differs from the estimate. Its size is a power of two.
  let size = 1024;
  let tree = new Float64Array(size + 1);
  let differences = new Float64Array(size);

  function makeRoom(index: number): void {
    while (index >= size) {
      const next = new Float64Array(size * 2 + 1);
      next.set(tree);
      // The new root covers all rows; those of its second half differ by nothing yet.
      next[size * 2] = tree[size] ?? 0;
      tree = next;
      const more = new Float64Array(size * 2);
      more.set(differences);
      differences = more;
      size *= 2;
    }
  }

  function top(index: number): number {
    let sum = index * estimate;
    for (let node = Math.min(index, size); node > 0; node -= node & -node) sum += tree[node] ?? 0;
    return sum;
  }

  return {
    top,
    height: (index) => estimate + (differences[index] ?? 0),
    at(offset, count) {
      let index = 0;
      let begin = 0;
      for (let step = size; step >= 1; step /= 2) {
        const next = index + step;
        if (next > size) continue;
        const end = begin + step * estimate + (tree[next] ?? 0);
        if (end > offset) continue;
        index = next;
        begin = end;
      }
      // Beyond what was ever measured, every row has the estimate.
      if (index === size) index += Math.floor((offset - begin) / estimate);
      return Math.max(0, Math.min(index, count - 1));
    },
    measure(index, height) {
      makeRoom(index);
      const growth = height - estimate - (differences[index] ?? 0);
      if (growth === 0) return 0;
      differences[index] = height - estimate;
      for (let node = index + 1; node <= size; node += node & -node) tree[node] = (tree[node] ?? 0) + growth;
      return growth;
    },
  };
}
