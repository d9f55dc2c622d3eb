/** A line of a change. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Above this many comparisons a change is shown as what was removed, then what was added. */
const MAX_COMPARISONS = 400_000;
/** Lines around a change that stay. */
const CONTEXT = 3;
/** Lines of one change that are shown. */
const MAX_LINES = 2000;

/**
 * Compares two texts line by line. Long stretches that are equal are left out.
 *
 * @example
 * diffLines('a\nb', 'a\nc') // [{ kind: 'same', text: 'a' }, { kind: 'removed', text: 'b' }, { kind: 'added', text: 'c' }]
 */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const one = splitLines(before);
  const other = splitLines(after);
  let head = 0;
  while (head < one.length && head < other.length && one[head] === other[head]) head += 1;
  let tail = 0;
  while (
    tail < one.length - head &&
    tail < other.length - head &&
    one[one.length - 1 - tail] === other[other.length - 1 - tail]
  ) {
    tail += 1;
  }
  return [
    ...one.slice(Math.max(0, head - CONTEXT), head).map(keep),
    ...compare(one.slice(head, one.length - tail), other.slice(head, other.length - tail)),
    ...one.slice(one.length - tail, one.length - tail + CONTEXT).map(keep),
  ].slice(0, MAX_LINES);
}

/** Reads the lines of a unified patch, or of a patch as agents write them; lines of its own syntax are unchanged. */
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

const keep = (text: string): DiffLine => ({ kind: 'same', text });
const remove = (text: string): DiffLine => ({ kind: 'removed', text });
const add = (text: string): DiffLine => ({ kind: 'added', text });

/** The longest common lines, by the table of their lengths. */
function compare(one: readonly string[], other: readonly string[]): readonly DiffLine[] {
  if (one.length * other.length > MAX_COMPARISONS) return [...one.map(remove), ...other.map(add)];
  const width = other.length + 1;
  const lengths = new Uint32Array((one.length + 1) * width);
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = one.length - 1; row >= 0; row -= 1) {
    for (let column = other.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        one[row] === other[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
    }
  }
  const lines: DiffLine[] = [];
  let row = 0;
  let column = 0;
  while (row < one.length || column < other.length) {
    const [left, right] = [one[row], other[column]];
    if (left !== undefined && left === right) {
      lines.push(keep(left));
      row += 1;
      column += 1;
    } else if (left !== undefined && (right === undefined || lengthAt(row + 1, column) >= lengthAt(row, column + 1))) {
      lines.push(remove(left));
      row += 1;
    } else {
      lines.push(add(right ?? ''));
      column += 1;
    }
  }
  return lines;
}
