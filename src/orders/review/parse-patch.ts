import { cutText } from '../../base/index.js';
import type { ChangedFile } from '../../store/records/index.js';

type Hunk = { readonly heading: string; readonly lines: Line[] };
type Line = ChangedFile['hunks'][number]['lines'][number];

/** How much of a change is shown. */
export interface DisplayLimits {
  /** Lines of one file. */
  readonly fileLines: number;
  /** Lines of all files together. */
  readonly lines: number;
  readonly lineLength: number;
}

/** More than anyone reads; a larger page would be slow. */
export const DISPLAY_LIMITS: DisplayLimits = { fileLines: 2000, lines: 20_000, lineLength: 2000 };

/** A file as git lists it. */
export interface ListedFile {
  readonly file: Pick<ChangedFile, 'path' | 'old_path' | 'change'>;
  /** How many sections of the patch are about it: a file that became a link has two. */
  readonly sections: 1 | 2;
}

// A heading is quoted from a file and can contain any character except a line feed.
const HUNK = /^@@ -(\d{1,10})(?:,\d{1,10})? \+(\d{1,10})(?:,\d{1,10})? @@ ?(.*)$/s;

/**
 * Parses a patch as `git diff-tree --patch` prints it. File names are taken from the list, which has the same order:
 * names in the patch can be quoted, and a file can have any name. Content lines start with a space, `+`, `-` or `\`, so
 * they cannot be mistaken for a file header. `isComplete`: the patch was not truncated.
 *
 * @example
 * parsePatch(patch, [{ file: { path: 'src/a.ts', change: 'modified' }, sections: 1 }], true)[0]?.added // 3
 */
export function parsePatch(
  patch: string,
  files: readonly ListedFile[],
  isComplete: boolean,
  limits: DisplayLimits = DISPLAY_LIMITS,
): readonly ChangedFile[] {
  // Only a line feed ends a patch line: `^` would also match after a carriage return inside a line.
  const sections = patch.split(/(?<=^|\n)(?=diff --git )/).filter((section) => section.startsWith('diff --git '));
  let linesLeft = limits.lines;
  let next = 0;
  return files.map(({ file, sections: count }) => {
    const fileSections = sections.slice(next, next + count);
    next += count;
    const read = readSections(fileSections, { ...limits, fileLines: Math.min(limits.fileLines, linesLeft) });
    linesLeft -= read.shown;
    const isTruncated = !isComplete && next >= sections.length;
    const { added, removed, binary, hunks } = read;
    return { ...file, added, removed, binary, truncated: read.truncated || isTruncated, hunks };
  });
}

function readSections(sections: readonly string[], { fileLines, lineLength }: DisplayLimits) {
  const hunks: Hunk[] = [];
  const totals = { added: 0, removed: 0, shown: 0, binary: false, truncated: false };
  let oldLine = 0;
  let newLine = 0;
  let hunk: Hunk | undefined;
  for (const row of sections.flatMap((section) => section.split('\n'))) {
    if (row.startsWith('diff --git ')) hunk = undefined;
    const [, oldStart, newStart, heading = ''] = HUNK.exec(row) ?? [];
    if (oldStart !== undefined) {
      [oldLine, newLine] = [Number(oldStart), Number(newStart)];
      hunk = { heading: cutText(heading, lineLength), lines: [] };
      if (totals.shown < fileLines) hunks.push(hunk);
      continue;
    }
    totals.binary ||= row.includes('\0');
    const kind = KINDS[row.charAt(0)];
    if (hunk === undefined || kind === undefined) continue;
    if (kind !== 'same') totals[kind] += 1;
    if (totals.shown >= fileLines || row.length > lineLength + 1) totals.truncated = true;
    if (totals.shown < fileLines) {
      totals.shown += 1;
      hunk.lines.push({
        kind,
        old_line: kind === 'added' ? null : oldLine,
        new_line: kind === 'removed' ? null : newLine,
        text: cutText(row.slice(1), lineLength),
      });
    }
    if (kind !== 'added') oldLine += 1;
    if (kind !== 'removed') newLine += 1;
  }
  return { ...totals, hunks: totals.binary ? [] : hunks };
}

const KINDS: Readonly<Record<string, Line['kind']>> = { ' ': 'same', '+': 'added', '-': 'removed' };
