import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { SluiceError } from '../../base/index.js';
import type { FsDiff } from '../../events/index.js';

/** The files and links of a folder at one moment, without their contents. */
export interface Snapshot {
  /** Relative, with forward slashes, in the order of the walk. */
  readonly paths: readonly string[];
  /** Four numbers a path: size, times of change of content and of entry, inode. Flat, because there may be many. */
  readonly stamps: readonly number[];
  /** Where the walk was cut off; nothing is known about the paths from there on. */
  readonly truncatedAt: string | undefined;
  /** Folders that could not be read. */
  readonly unseen: ReadonlySet<string>;
  /** Whether something was left out: too many files, too deep, not readable. */
  readonly truncated: boolean;
}

export interface SnapshotOptions {
  readonly maxFiles?: number;
  readonly maxDepth?: number;
  /** Of all paths together. */
  readonly maxPathBytes?: number;
  /** Folders that are not looked into, relative with forward slashes. */
  readonly leaveOut?: readonly string[];
}

/** How many numbers `stamps` has for each path. */
const STAMP_SIZE = 4;

const IGNORED: ReadonlySet<string> = new Set(['.git', 'node_modules', '.audit']);
/** Concurrent file system calls. */
const AT_ONCE = 64;

/**
 * Lists the files of a folder and when each was last written. Links are not followed; `.git`, `node_modules`
 * and `.audit` are left out at any depth, folders themselves and what is neither file nor link too.
 *
 * @example
 * const before = await takeSnapshot(workdir);
 * // … the agent works …
 * const { created, modified, deleted } = compareSnapshots(before, await takeSnapshot(workdir));
 */
export async function takeSnapshot(folder: string, options: SnapshotOptions = {}): Promise<Snapshot> {
  const { maxFiles = 100_000, maxDepth = 64, maxPathBytes = 16 * 1024 * 1024 } = options;
  const paths: string[] = [];
  const stamps: number[] = [];
  const unseen = new Set<string>();
  const leftOut = new Set(options.leaveOut);
  let pathBytes = 0;
  let truncatedAt: string | undefined;

  /** In the order of names, depth first: so two walks that were cut off can be compared as far as both went. */
  async function walk(relative: string, entries: readonly Dirent[], depth: number): Promise<void> {
    const prefix = relative === '' ? '' : `${relative}/`;
    for (let from = 0; from < entries.length && truncatedAt === undefined; from += AT_ONCE) {
      const group = entries.slice(from, from + AT_ONCE);
      const found = await Promise.all(group.map(async (entry) => look(`${folder}/${prefix}${entry.name}`, entry)));
      for (const [index, entry] of group.entries()) {
        const path = `${prefix}${entry.name}`;
        if (truncatedAt !== undefined) return;
        if (paths.length >= maxFiles || pathBytes >= maxPathBytes) truncatedAt = path;
        else if (!entry.isDirectory()) keep(path, found[index]);
        else if (!leftOut.has(path)) await enter(path, depth + 1);
      }
    }
  }

  async function enter(path: string, depth: number): Promise<void> {
    const entries = depth > maxDepth ? undefined : await list(`${folder}/${path}`);
    if (entries === undefined) unseen.add(path);
    else await walk(path, entries, depth);
  }

  function keep(path: string, stat: Stats | undefined): void {
    // It was deleted meanwhile, or is a pipe or a socket.
    if (stat === undefined || !(stat.isFile() || stat.isSymbolicLink())) return;
    paths.push(path);
    stamps.push(stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino);
    pathBytes += Buffer.byteLength(path);
  }

  const entries = await list(folder);
  if (entries === undefined) {
    throw new SluiceError(
      'WORKING_FOLDER_UNREADABLE',
      `Cannot read the working folder ${folder}. Create it, or use another.`,
    );
  }
  await walk('', entries, 1);
  return { paths, stamps, truncatedAt, unseen, truncated: truncatedAt !== undefined || unseen.size > 0 };
}

async function look(path: string, entry: Dirent): Promise<Stats | undefined> {
  if (entry.isDirectory()) return undefined;
  return lstat(path).catch(() => undefined);
}

async function list(path: string): Promise<Dirent[] | undefined> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter(({ name }) => !IGNORED.has(name)).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return undefined;
  }
}

/**
 * Lists the changes between two snapshots of a folder. A file counts as modified if its size, inode or one of its times
 * differs: one that was written again with the same content was written, and counts. What one of the snapshots did not see
 * is not judged.
 */
export function compareSnapshots(before: Snapshot, after: Snapshot): FsDiff {
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
  const ends = [before.truncatedAt, after.truncatedAt].filter((end) => end !== undefined);
  const unseen = new Set([...before.unseen, ...after.unseen]);
  return (path) => ends.every((end) => compare(path, end) < 0) && (unseen.size === 0 || !isBelow(path, unseen));
}

function isBelow(path: string, folders: ReadonlySet<string>): boolean {
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    if (folders.has(path.slice(0, slash))) return true;
  }
  return false;
}
