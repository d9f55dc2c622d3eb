import type { FsDiff } from '../../events/index.js';
import type { Snapshot } from './snapshot.js';
import { STAMP_SIZE } from './snapshot.js';

/**
 * What changed between two snapshots of a folder. A file counts as modified if its size, inode or one of its times
 * differs: one that was written again with the same content was written, and counts. What one of the snapshots did not
 * see is not judged.
 */
export function differenceOf(before: Snapshot, after: Snapshot): FsDiff {
  const created: string[] = [];
  const modified: string[] = [];
  const deleted: string[] = [];
  const canJudge = createJudge(before, after);
  let old = 0;
  let recent = 0;
  while (old < before.paths.length || recent < after.paths.length) {
    const oldPath = before.paths[old];
    const recentPath = after.paths[recent];
    const order = compare(oldPath, recentPath);
    if (order < 0 && oldPath !== undefined && canJudge(oldPath)) deleted.push(oldPath);
    if (order > 0 && recentPath !== undefined && canJudge(recentPath)) created.push(recentPath);
    if (order === 0 && oldPath !== undefined && !isSame(before, old, after, recent)) modified.push(oldPath);
    if (order <= 0) old += 1;
    if (order >= 0) recent += 1;
  }
  return { created: created.sort(), modified: modified.sort(), deleted: deleted.sort() };
}

/** The order of the walk: names part by part, so that a folder's files stand together. After the last comes nothing. */
function compare(left: string | undefined, right: string | undefined): number {
  if (left === right) return 0;
  if (left === undefined) return 1;
  if (right === undefined) return -1;
  return left.replaceAll('/', '\0') < right.replaceAll('/', '\0') ? -1 : 1;
}

function isSame(before: Snapshot, old: number, after: Snapshot, recent: number): boolean {
  for (let index = 0; index < STAMP_SIZE; index += 1) {
    if (before.stamps[old * STAMP_SIZE + index] !== after.stamps[recent * STAMP_SIZE + index]) return false;
  }
  return true;
}

function createJudge(before: Snapshot, after: Snapshot): (path: string) => boolean {
  const ends = [before.brokenOffAt, after.brokenOffAt].filter((end) => end !== undefined);
  const unseen = new Set([...before.unseen, ...after.unseen]);
  return (path) => ends.every((end) => compare(path, end) < 0) && (unseen.size === 0 || !isBelow(path, unseen));
}

function isBelow(path: string, folders: ReadonlySet<string>): boolean {
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    if (folders.has(path.slice(0, slash))) return true;
  }
  return false;
}
