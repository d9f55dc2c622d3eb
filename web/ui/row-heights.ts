/** Creates heights for any number of rows, with lookups in logarithmic time; unseen rows need no memory. */
export function createRowHeights(estimate: number) {
  // A Fenwick tree over how much each row differs from the estimate. Its size is a power of two.
  let size = 1024;
  let tree = new Float64Array(size + 1);
  let differences = new Float64Array(size);

  function makeRoom(index: number): void {
    while (index >= size) {
      const nextTree = new Float64Array(size * 2 + 1);
      nextTree.set(tree);
      // The new root covers all rows; rows in its second half have no difference yet.
      nextTree[size * 2] = tree[size] ?? 0;
      tree = nextTree;
      const nextDifferences = new Float64Array(size * 2);
      nextDifferences.set(differences);
      differences = nextDifferences;
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
    height: (index: number) => estimate + (differences[index] ?? 0),
    /** Returns the row at an offset in pixels; beyond the end, the last of `count` rows. */
    at(offset: number, count: number) {
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
      // Every row after the last measured one has the estimated height.
      if (index === size) index += Math.floor((offset - begin) / estimate);
      return Math.max(0, Math.min(index, count - 1));
    },
    /** Records a measured height; returns how much the row has grown. */
    measure(index: number, height: number) {
      makeRoom(index);
      const growth = height - estimate - (differences[index] ?? 0);
      if (growth === 0) return 0;
      differences[index] = height - estimate;
      for (let node = index + 1; node <= size; node += node & -node) tree[node] = (tree[node] ?? 0) + growth;
      return growth;
    },
  };
}
