import { constants } from 'node:fs';
import { copyFile, link, lstat, mkdtemp, open, realpath, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, replaceFile } from '../../../base/files/index.js';
import { mountExisting, type Mount } from './mount.js';

/**
 * A folder where an agent stores its login and its sessions. Only the listed files are visible. Everything else written
 * there is private to the attempt, because an agent must not be able to change settings that name commands.
 */
export interface StateFolder {
  readonly folder: string;
  /** Persistent: file names, folder names with a trailing slash (they are created), or `/` for the entire folder. */
  readonly keep: readonly string[];
  /**
   * Persistent files that the agent replaces by renaming, which is impossible for a mounted file (EBUSY). They are
   * linked into a folder on the host, which is mounted; a replaced file is saved when the sandbox is closed.
   */
  readonly replace?: readonly string[];
  /** Readable. Folders with a trailing slash are created, so an agent cannot create them inside a persistent folder. */
  readonly read?: readonly string[];
  /** Files that can be changed, but only for this attempt. */
  readonly copy?: readonly string[];
}

/** Larger files are not copied, because a copy is in memory. */
const MAX_COPY_BYTES = 64 * 1024 * 1024;

/** A file that an agent can replace: its path on the host, and in the folder that is mounted. */
export interface StagedFile {
  readonly original: string;
  readonly staged: string;
}

/**
 * Returns the mounts for an agent's state. Persistent folders are created if missing. `stage` is called with each file
 * that the agent can replace; `scratch` is a folder for them.
 */
export async function findStateFolders(
  states: readonly StateFolder[],
  {
    privateBytes,
    scratch,
    stage,
  }: {
    readonly privateBytes: number;
    readonly scratch: () => Promise<string>;
    readonly stage: (file: StagedFile) => void;
  },
): Promise<readonly Mount[]> {
  const mounts: Mount[] = [];
  for (const { folder, keep, replace = [], read = [], copy = [] } of states) {
    const keepsAll = keep.includes('/');
    const staged = await stageFiles(folder, replace, scratch);
    for (const file of staged) stage(file);
    if (keepsAll) {
      await makeFolder(folder).catch(() => undefined);
      const from = await realpath(folder).catch(() => undefined);
      if (from !== undefined) mounts.push({ kind: 'write', at: folder, from });
    } else if (staged[0] !== undefined) mounts.push({ kind: 'write', at: folder, from: dirname(staged[0].staged) });
    else if (keep.length > 0) mounts.push({ kind: 'private', at: folder, bytes: privateBytes });
    const kept = keep.filter((name) => name !== '/').map((name) => ['write', join(folder, name)] as const);
    for (const [kind, path] of [...kept, ...read.map((name) => ['read', join(folder, name)] as const)]) {
      if (path.endsWith('/')) await makeFolder(path).catch(() => undefined);
      mounts.push(...(await mountExisting(kind, [path])));
    }
    for (const name of copy) {
      const at = join(folder, name);
      const found = await lstat(at).catch(() => undefined);
      if (found?.isFile() === true && found.size <= MAX_COPY_BYTES) mounts.push({ kind: 'copy', at, from: at });
    }
  }
  return mounts;
}

/** Links existing files into a new folder. If it is on another file system, they are copied. */
async function stageFiles(folder: string, names: readonly string[], scratch: () => Promise<string>) {
  const files: StagedFile[] = [];
  let place: string | undefined;
  for (const name of names) {
    const original = join(folder, name);
    const found = await lstat(original).catch(() => undefined);
    if (found?.isFile() !== true) continue;
    place ??= await mkdtemp(join(await scratch(), 'state-'));
    const staged = join(place, name);
    await link(original, staged).catch(async () => {
      await copyFile(original, staged);
      await utimes(staged, found.atime, found.mtime);
    });
    files.push({ original, staged });
  }
  return files;
}

/** Saves a file that the agent replaced. A file that was changed in place is the original itself. */
export async function saveStagedFile({ original, staged }: StagedFile): Promise<void> {
  const [before, after] = await Promise.all([lstat(original), lstat(staged)]);
  if (before.ino === after.ino || !after.isFile() || after.nlink > 1 || after.size > MAX_COPY_BYTES) return;
  const file = await open(staged, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const text = await file.readFile('utf8');
    // An older one was replaced by another run meanwhile.
    if (text !== '' && after.mtimeMs > before.mtimeMs) await replaceFile(original, text);
  } finally {
    await file.close();
  }
}
