import { realpathSync, type Dirent, type Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { relative as findRelativePath, sep } from 'node:path';
import type { FsDiff } from '../../events/index.js';
import { PACKED_FOLDER } from '../run-folder/index.js';
import type { RunWarning } from '../../store/records/index.js';
import { SluiceError } from '../../base/index.js';

/** Folders and files that Sluice creates in a data folder. They are never artifacts. */
export const SLUICE_FILES = [
  'runs',
  PACKED_FOLDER,
  'cache',
  'processes',
  'locks',
  'guards',
  'acp-sessions',
  'mirrors',
  'worktrees',
  'checks',
  'comments',
  'sluice.db',
  'sluice.db-wal',
  'sluice.db-shm',
];

export type ChangeTracker = Awaited<ReturnType<typeof trackChanges>>;

/** Takes the first snapshot of a working folder, without Sluice's own files. */
export async function trackChanges(workdir: string, data: string) {
  const exclude = listSluiceFiles(workdir, realpathSync.native(data));
  const before = await takeSnapshot(workdir, { exclude });
  return {
    async findChanges(): Promise<{ readonly fsDiff: FsDiff; readonly warnings: readonly RunWarning[] }> {
      const after = await takeSnapshot(workdir, { exclude });
      const fsDiff = compareSnapshots(before, after);
      if (!before.truncated && !after.truncated) return { fsDiff, warnings: [] };
      const message = `"${workdir}" has too many files, or folders that are too deeply nested or cannot be read. Some artifacts might be missing.`;
      return { fsDiff, warnings: [{ code: 'ARTIFACTS_INCOMPLETE', message }] };
    },
  };
}

/** Returns the paths of Sluice's files relative to the working folder; empty if the data folder is elsewhere. */
function listSluiceFiles(workdir: string, data: string): readonly string[] {
  const path = findRelativePath(workdir, data).split(sep).join('/');
  if (path === '') return SLUICE_FILES;
  // Not every path that starts with two dots is outside: a folder name can start with them.
  return path === '..' || path.startsWith('../') ? [] : [path];
}

/** A folder's files and links at one point in time, without their content. */
export interface Snapshot {
  /** The size, the times and the inode of each file, by its relative path with forward slashes. */
  readonly files: ReadonlyMap<string, string>;
  /** The path where the walk stopped because of a limit; this path and later paths are unknown. */
  readonly truncatedAt: string | undefined;
  /** Folders that could not be read or are too deeply nested. */
  readonly unreadable: ReadonlySet<string>;
  /** Whether anything was omitted: too many files, folders that are too deeply nested or unreadable. */
  readonly truncated: boolean;
}

interface SnapshotOptions {
  readonly maxFiles?: number;
  readonly maxDepth?: number;
  /** The maximum total length of all paths. */
  readonly maxPathBytes?: number;
  /** Files and folders to skip: relative paths with forward slashes. */
  readonly exclude?: readonly string[];
}

const IGNORED_NAMES: ReadonlySet<string> = new Set(['.git', 'node_modules', '.audit']);
/** Concurrent file system calls. */
const CONCURRENCY = 64;

/** Lists a folder's files and links with sizes and times, without `IGNORED_NAMES` at any depth. Follows no link. */
export async function takeSnapshot(folder: string, options: SnapshotOptions = {}): Promise<Snapshot> {
  const { maxFiles = 100_000, maxDepth = 64, maxPathBytes = 16 * 1024 * 1024 } = options;
  const files = new Map<string, string>();
  const unreadable = new Set<string>();
  const excluded = new Set(options.exclude);
  let pathBytes = 0;
  let truncatedAt: string | undefined;

  /** Walks in name order, depth first, so two truncated walks can be compared up to where the first stopped. */
  async function walk(relative: string, entries: readonly Dirent[], depth: number): Promise<void> {
    const prefix = relative === '' ? '' : `${relative}/`;
    for (let from = 0; from < entries.length && truncatedAt === undefined; from += CONCURRENCY) {
      const group = entries.slice(from, from + CONCURRENCY);
      const stats = await Promise.all(
        group.map(async (entry) =>
          entry.isDirectory() ? undefined : lstat(`${folder}/${prefix}${entry.name}`).catch(() => undefined),
        ),
      );
      for (const [index, entry] of group.entries()) {
        const path = `${prefix}${entry.name}`;
        if (truncatedAt !== undefined) return;
        if (excluded.has(path)) continue;
        if (files.size >= maxFiles || pathBytes >= maxPathBytes) truncatedAt = path;
        else if (!entry.isDirectory()) addFile(path, stats[index]);
        else await walkFolder(path, depth + 1);
      }
    }
  }

  async function walkFolder(path: string, depth: number): Promise<void> {
    const entries = depth > maxDepth ? undefined : await listEntries(`${folder}/${path}`);
    if (entries === undefined) unreadable.add(path);
    else await walk(path, entries, depth);
  }

  function addFile(path: string, stat: Stats | undefined): void {
    // It has since been deleted, or is a pipe or a socket.
    if (stat === undefined || !(stat.isFile() || stat.isSymbolicLink())) return;
    files.set(path, `${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.ino}`);
    pathBytes += Buffer.byteLength(path);
  }

  const entries = await listEntries(folder);
  if (entries === undefined) {
    throw new SluiceError(
      'WORKING_FOLDER_UNREADABLE',
      `Cannot read the working folder "${folder}". Create it, or use another folder.`,
    );
  }
  await walk('', entries, 1);
  return { files, truncatedAt, unreadable, truncated: truncatedAt !== undefined || unreadable.size > 0 };
}

async function listEntries(path: string): Promise<Dirent[] | undefined> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined);
  return entries?.filter(({ name }) => !IGNORED_NAMES.has(name)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Lists the changes between two snapshots of a folder. A file counts as modified if its size, inode or one of its times
 * differs, so rewriting it with the same content counts too. Paths unknown in either snapshot are omitted.
 */
export function compareSnapshots(before: Snapshot, after: Snapshot): FsDiff {
  const listOnlyIn = (one: Snapshot, other: Snapshot): string[] =>
    [...one.files.keys()].filter((path) => !other.files.has(path) && isKnown(path, other));
  const modified = [...before.files].flatMap(([path, stamp]) => {
    const later = after.files.get(path);
    return later === undefined || later === stamp ? [] : [path];
  });
  return {
    created: listOnlyIn(after, before).sort(),
    modified: modified.sort(),
    deleted: listOnlyIn(before, after).sort(),
  };
}

/** Whether a snapshot would have a file with this path, if it existed. */
function isKnown(path: string, { truncatedAt, unreadable }: Snapshot): boolean {
  // In walk order: part by part, so a folder's files stay together.
  if (truncatedAt !== undefined && path.replaceAll('/', '\0') >= truncatedAt.replaceAll('/', '\0')) return false;
  for (let slash = path.indexOf('/'); unreadable.size > 0 && slash !== -1; slash = path.indexOf('/', slash + 1)) {
    if (unreadable.has(path.slice(0, slash))) return false;
  }
  return true;
}
