import { createHash } from 'node:crypto';
import {
  closeSync,
  fsync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isPresent, makeFolderBelow, readSmallBytes, readSmallFile, withFolder } from '../../base/files/index.js';
import { readBranch, type RepositoryStart } from './repository.js';

/*
 * A worktree and its branch are a few small files, and almost every order needs them. Writing them takes a fraction of the
 * time that starting git takes, and does not depend on a configuration that an agent can write. Functions return false if
 * anything is unusual or in the way; then git is called, which knows the rest and reports what is wrong.
 */

/** The repository of a worktree: its object folder and the commit where the order starts. */
type Repository = Pick<RepositoryStart, 'objects' | 'head'>;

/** Adds a worktree without files, on a new branch, as `git worktree add --no-checkout -b` does. */
export async function writeWorktree(
  { folder, branch }: { readonly folder: string; readonly branch: string },
  { objects, head }: Repository,
): Promise<boolean> {
  const common = dirname(objects);
  const entries = join(common, 'worktrees');
  const entry = join(entries, basename(folder));
  if (!(await isUsual(common, branch)) || (await isPresent(entry))) return false;
  try {
    if (!(await createBranch(common, branch, head))) return false;
    mkdirSync(folder);
    writeFileSync(join(folder, '.git'), `gitdir: ${entry}\n`, { flag: 'wx' });
    const link = join(realpathSync.native(folder), '.git');
    await makeFolderBelow(entries, common, 0o777);
    const work = async (path: string): Promise<void> => {
      const made = join(path, basename(entry));
      mkdirSync(made);
      // Another git process would remove an entry without this file.
      writeFileSync(join(made, 'gitdir'), `${link}\n`, { flag: 'wx' });
      writeFileSync(join(made, 'commondir'), '../..\n', { flag: 'wx' });
      writeFileSync(join(made, 'HEAD'), `ref: refs/heads/${branch}\n`, { flag: 'wx' });
    };
    await withFolder(entries, { trustedRoot: common }, { work });
    return true;
  } catch {
    return false;
  }
}

/** Deletes the branch of an order if it is still at the commit where the order started, so that no commit is lost. */
export async function deleteUnusedBranch(branch: string, { objects, head }: Repository): Promise<boolean> {
  const common = dirname(objects);
  const log = join(common, 'logs', 'refs', 'heads', branch);
  const current = await readSmallFile(join(common, 'HEAD'), MAX_BYTES).catch(() => undefined);
  const isCheckedOut = current === `ref: refs/heads/${branch}\n`;
  if (isCheckedOut || !(await isUsual(common, branch)) || (await isPresent(log))) return false;
  try {
    return await inHeads(common, branch, async (file) => {
      const lock = `${file}.lock`;
      // Fails if another process holds git's lock.
      linkSync(file, lock);
      const isUnused = (await readBranch(common, branch)) === head;
      if (isUnused) rmSync(file);
      rmSync(lock);
      return isUnused;
    });
  } catch {
    return false;
  }
}

/** An index of this size has about 100,000 files. */
const MAX_INDEX_BYTES = 16 * 1024 * 1024;

/** Returns a digest of an index, to detect changes; undefined if it is too large or cannot be read. */
export async function digestIndex(index: string): Promise<string | undefined> {
  const bytes = await readSmallBytes(index, MAX_INDEX_BYTES).catch(() => undefined);
  return bytes === undefined ? undefined : createHash('sha256').update(bytes).digest('base64');
}

const MAX_BYTES = 64 * 1024;
/** A list of about 50,000 branches and tags. */
const MAX_PACKED_BYTES = 4 * 1024 * 1024;
/** Settings with which git stores these files elsewhere, or for other users too; included files are not read here. */
const UNUSUAL = /\[\s*(?:include|extensions)|sharedrepository/i;

/** Whether git would store a worktree and this branch as the files that are written here. */
async function isUsual(common: string, branch: string): Promise<boolean> {
  if (!/^sluice\/[\w-]+$/.test(branch)) return false;
  try {
    const config = await readSmallFile(join(common, 'config'), MAX_BYTES);
    const packed = await readSmallFile(join(common, 'packed-refs'), MAX_PACKED_BYTES);
    return config !== undefined && !UNUSUAL.test(config) && packed?.includes(` refs/heads/${branch}\n`) !== true;
  } catch {
    return false;
  }
}

/** Creates a branch under git's lock; returns false if it exists. It survives a power failure, as git's branches do. */
async function createBranch(common: string, branch: string, commit: string): Promise<boolean> {
  await makeFolderBelow(dirname(join(common, 'refs', 'heads', branch)), common, 0o777);
  return inHeads(common, branch, async (file) => {
    const lock = `${file}.lock`;
    const descriptor = openSync(lock, 'wx');
    try {
      writeFileSync(descriptor, `${commit}\n`);
      await sync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    const isNew = !(await isPresent(file));
    if (isNew) renameSync(lock, file);
    else rmSync(lock);
    return isNew;
  });
}

const sync = promisify(fsync);

/** Works on the file of a branch. */
async function inHeads<T>(common: string, branch: string, work: (file: string) => Promise<T>): Promise<T> {
  const file = join(common, 'refs', 'heads', branch);
  return withFolder(dirname(file), { trustedRoot: common }, { work: async (path) => work(join(path, basename(file))) });
}
