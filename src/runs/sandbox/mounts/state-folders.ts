import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../../base/files/index.js';
import type { Mount } from './mount.js';

/**
 * A folder where an agent stores its login and its sessions. Only the listed files are visible. Everything else written
 * there is private to the attempt, because an agent must not be able to change settings that name commands.
 */
export interface StateFolder {
  readonly folder: string;
  /** Persistent: file names, folder names with a trailing slash (they are created), or `/` for the entire folder. */
  readonly keep: readonly string[];
  /** Readable. Folders with a trailing slash are created, so an agent cannot create them inside a persistent folder. */
  readonly read?: readonly string[];
  /** Files that can be changed, but only for this attempt. */
  readonly copy?: readonly string[];
}

/** Larger files are not copied, because a copy is in memory. */
const MAX_COPY_BYTES = 64 * 1024 * 1024;

/** Returns the mounts for an agent's state. Persistent folders are created if missing. */
export async function findStateFolders(
  states: readonly StateFolder[],
  privateBytes: number,
): Promise<readonly Mount[]> {
  const mounts: Mount[] = [];
  for (const { folder, keep, read = [], copy = [] } of states) {
    const keepsAll = keep.includes('/');
    if (keepsAll) {
      await makeFolder(folder).catch(() => undefined);
      const from = await realpath(folder).catch(() => undefined);
      if (from !== undefined) mounts.push({ kind: 'write', at: folder, from });
    } else if (keep.length > 0) mounts.push({ kind: 'private', at: folder, bytes: privateBytes });
    for (const name of keep.filter((each) => each !== '/')) {
      const path = join(folder, name);
      if (name.endsWith('/')) await makeFolder(path).catch(() => undefined);
      mounts.push(...(await mountExisting('write', path)));
    }
    for (const name of read) {
      const path = join(folder, name);
      if (name.endsWith('/')) await makeFolder(path).catch(() => undefined);
      mounts.push(...(await mountExisting('read', path)));
    }
    for (const name of copy) {
      const at = join(folder, name);
      const found = await lstat(at).catch(() => undefined);
      if (found?.isFile() === true && found.size <= MAX_COPY_BYTES) mounts.push({ kind: 'copy', at, from: at });
    }
  }
  return mounts;
}

async function mountExisting(kind: 'read' | 'write', path: string): Promise<Mount[]> {
  const at = path.replace(/\/+$/, '');
  const from = await realpath(at).catch(() => undefined);
  return from === undefined ? [] : [{ kind, at, from }];
}
