import { diffLines, type FileChange } from '../../../src/base/index.js';
import type { Change } from '../../../src/server/api/index.js';

type ChangedFile = Change['files'][number];
type RunChange = Readonly<{ run_id: string; change: Change }>;

/** Finds runs with the same change: each maps to the first run that has it. Binary and truncated changes are unknown. */
export function findEqual(runs: readonly RunChange[]): ReadonlyMap<string, string> {
  const firstRuns = new Map<string, string>();
  const equal = new Map<string, string>();
  for (const { run_id, change } of runs) {
    if (change.files.length === 0 || change.truncated || change.files.some(isUnknown)) continue;
    const key = JSON.stringify(
      change.files
        .toSorted((one, other) => one.path.localeCompare(other.path))
        .map(({ path, old_path, change: kind, hunks }) => [path, old_path, kind, hunks.map(({ lines }) => lines)]),
    );
    const first = firstRuns.get(key);
    if (first === undefined) firstRuns.set(key, run_id);
    else equal.set(run_id, first);
  }
  return equal;
}

function isUnknown({ binary, truncated }: ChangedFile): boolean {
  return binary || truncated;
}

/**
 * Compares the files as two runs left them, which both started from the same commit. A change has only the lines around
 * its edits: where one run has edited and the other has not, the other still has the lines of the commit.
 */
export function compareChanges(one: Change, other: Change): readonly FileChange[] {
  const paths = [...new Set([...one.files, ...other.files].map(({ path }) => path))].toSorted();
  return paths.flatMap((path): readonly FileChange[] => {
    const [left, right] = [one, other].map(({ files }) => files.find((file) => file.path === path));
    if ([left, right].some((file) => file !== undefined && isUnknown(file))) {
      return [{ path, lines: [], isPartial: true }];
    }
    const base = new Map([...listBase(left), ...listBase(right)]);
    const lines = diffLines(render(left, base), render(right, base));
    return lines.some(({ kind }) => kind !== 'same') ? [{ path, lines }] : [];
  });
}

/** Lists the known lines of the commit by their number. */
function listBase(file: ChangedFile | undefined): readonly (readonly [number, string])[] {
  const lines = file?.hunks.flatMap((hunk) => hunk.lines) ?? [];
  return lines.flatMap(({ old_line, text }) => (old_line === null ? [] : [[old_line, text] as const]));
}

/** Applies a run's edits to the known lines. */
function render(file: ChangedFile | undefined, base: ReadonlyMap<number, string>): string {
  const removed = new Set<number>();
  /** Added lines by the number of the line before them; 0 for the start of the file. */
  const added = new Map<number, string[]>();
  for (const { lines } of file?.hunks ?? []) {
    const first = lines.find(({ old_line }) => old_line !== null)?.old_line ?? 1;
    let before = first - 1;
    for (const { kind, old_line, text } of lines) {
      if (old_line !== null) before = old_line;
      if (kind === 'removed' && old_line !== null) removed.add(old_line);
      if (kind === 'added') added.set(before, [...(added.get(before) ?? []), text]);
    }
  }
  const numbers = [...new Set([0, ...base.keys(), ...added.keys()])].toSorted((one, other) => one - other);
  return numbers
    .flatMap((number) => {
      const text = base.get(number);
      return [...(text === undefined || removed.has(number) ? [] : [text]), ...(added.get(number) ?? [])];
    })
    .join('\n');
}
