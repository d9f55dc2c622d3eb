/** A line in a diff. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Above this many comparisons, all old lines are shown as removed and all new ones as added. */
const MAX_COMPARISONS = 400_000;
/** The number of context lines around a change. */
const CONTEXT = 3;
/** The maximum number of lines in a diff. */
const MAX_LINES = 2000;

/**
 * Compares two strings line by line. Unchanged lines at the start and the end are trimmed to the context lines.
 *
 * @example
 * diffLines('a\nb', 'a\nc') // [{ kind: 'same', text: 'a' }, { kind: 'removed', text: 'b' }, { kind: 'added', text: 'c' }]
 */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const oldLines = splitLines(before);
  const newLines = splitLines(after);
  let head = 0;
  while (head < oldLines.length && head < newLines.length && oldLines[head] === newLines[head]) head += 1;
  let tail = 0;
  while (
    tail < oldLines.length - head &&
    tail < newLines.length - head &&
    oldLines[oldLines.length - 1 - tail] === newLines[newLines.length - 1 - tail]
  ) {
    tail += 1;
  }
  return [
    ...oldLines.slice(Math.max(0, head - CONTEXT), head).map(toUnchanged),
    ...compare(oldLines.slice(head, oldLines.length - tail), newLines.slice(head, newLines.length - tail)),
    ...oldLines.slice(oldLines.length - tail, oldLines.length - tail + CONTEXT).map(toUnchanged),
  ].slice(0, MAX_LINES);
}

/** Parses the lines of a patch in unified or `*** Begin Patch` format. Patch syntax lines are returned unchanged. */
export function readPatch(patch: string): readonly DiffLine[] {
  return splitLines(patch)
    .slice(0, MAX_LINES)
    .map((line) => {
      if (/^(?:\+\+\+|---) /.test(line)) return { kind: 'same', text: line };
      if (line.startsWith('+')) return { kind: 'added', text: line.slice(1) };
      if (line.startsWith('-')) return { kind: 'removed', text: line.slice(1) };
      return { kind: 'same', text: line.startsWith(' ') ? line.slice(1) : line };
    });
}

function splitLines(text: string): readonly string[] {
  if (text === '') return [];
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

const toUnchanged = (text: string): DiffLine => ({ kind: 'same', text });
const toRemoved = (text: string): DiffLine => ({ kind: 'removed', text });
const toAdded = (text: string): DiffLine => ({ kind: 'added', text });

/** Compares lines by their longest common subsequence. */
function compare(oldLines: readonly string[], newLines: readonly string[]): readonly DiffLine[] {
  if (oldLines.length * newLines.length > MAX_COMPARISONS)
    return [...oldLines.map(toRemoved), ...newLines.map(toAdded)];
  const width = newLines.length + 1;
  const lengths = new Uint32Array((oldLines.length + 1) * width);
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = oldLines.length - 1; row >= 0; row -= 1) {
    for (let column = newLines.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        oldLines[row] === newLines[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
    }
  }
  const lines: DiffLine[] = [];
  let row = 0;
  let column = 0;
  while (row < oldLines.length || column < newLines.length) {
    const [left, right] = [oldLines[row], newLines[column]];
    if (left !== undefined && left === right) {
      lines.push(toUnchanged(left));
      row += 1;
      column += 1;
    } else if (left !== undefined && (right === undefined || lengthAt(row + 1, column) >= lengthAt(row, column + 1))) {
      lines.push(toRemoved(left));
      row += 1;
    } else {
      lines.push(toAdded(right ?? ''));
      column += 1;
    }
  }
  return lines;
}
