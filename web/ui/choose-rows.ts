/** Rows from one to another, both included. */
export type RowRange = readonly [from: number, to: number];

/** What to draw of a list: rows in their order, and how many are left for later. */
export interface ChosenRows {
  readonly rows: readonly number[];
  readonly missing: number;
}

/**
 * Chooses the rows to draw: those of `around` that are in the page already, and of the others as many as `take` grants, the
 * ones that are seen before those beside them.
 *
 * @example
 * chooseRows({ seen: [10, 12], around: [8, 14], isThere: () => false, take: () => 4 })
 * // { rows: [8, 10, 11, 12], missing: 3 }
 */
export function chooseRows({
  seen,
  around,
  isThere,
  take,
}: {
  readonly seen: RowRange;
  readonly around: RowRange;
  readonly isThere: (index: number) => boolean;
  readonly take: (wanted: number) => number;
}): ChosenRows {
  const all = indexesOf(around);
  const isSeen = (index: number): boolean => index >= seen[0] && index <= seen[1];
  const fresh = all.filter((index) => !isThere(index));
  const wanted = [...fresh.filter(isSeen), ...fresh.filter((index) => !isSeen(index))];
  const granted = new Set(wanted.slice(0, take(wanted.length)));
  return {
    rows: all.filter((index) => isThere(index) || granted.has(index)),
    missing: wanted.length - granted.size,
  };
}

function indexesOf([from, to]: RowRange): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}
