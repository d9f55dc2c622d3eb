import { lstat, opendir, readlink, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mount } from './mount.js';

/** Executables and libraries of common distributions; not home folders, `/run`, `/var`, `/srv`. */
const SYSTEM_FOLDERS = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
  '/nix/store',
  '/gnu/store',
];
/** Folders that are never mounted as a whole, even if an executable is directly inside. */
const BROAD_FOLDERS = '/ /home /root /var /var/tmp /tmp /run /proc /sys /dev /mnt /media /srv'.split(' ');

/** Limits on the search for files that only root may read. */
const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 4;

let systemMounts: Promise<readonly Mount[]> | undefined;

/** Returns the read-only mounts of the system folders, which are the same for every sandbox in this process. */
export async function findSystemFolders(): Promise<readonly Mount[]> {
  systemMounts ??= listSystemFolders();
  return systemMounts;
}

/** Whether a folder is too broad to be mounted: one of {@link BROAD_FOLDERS}, the home folder, or one of its parents. */
export function isBroad(folder: string, home: string): boolean {
  return BROAD_FOLDERS.includes(folder) || home === folder || home.startsWith(`${folder}/`);
}

export function isInSystem(path: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

async function listSystemFolders(): Promise<readonly Mount[]> {
  const mounts: Mount[] = [];
  for (const folder of SYSTEM_FOLDERS) {
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isSymbolicLink() === true) mounts.push({ kind: 'link', at: folder, to: await readlink(folder) });
    else if (found?.isDirectory() === true) mounts.push({ kind: 'read', at: folder, from: folder });
  }
  mounts.push({ kind: 'link', at: '/var/run', to: '/run' });
  // Often a link to a file outside `/etc` that a service writes.
  const resolverFile = await realpath('/etc/resolv.conf').catch(() => undefined);
  if (resolverFile !== undefined && !isInSystem(resolverFile)) {
    mounts.push({ kind: 'read', at: resolverFile, from: resolverFile });
  }
  // Root could read files that other users cannot, even inside the sandbox, so these are hidden.
  if (process.getuid?.() === 0) mounts.push(...(await listUnreadableEntries('/etc')));
  return mounts;
}

/** Lists what is not world-readable, such as keys, and folders that cannot be examined completely. */
async function listUnreadableEntries(folder: string): Promise<Mount[]> {
  const found: Mount[] = [];
  let remainingEntries = MAX_ENTRIES;
  /** Returns whether all entries were examined. */
  const visit = async (path: string, depth: number): Promise<boolean> => {
    for await (const entry of await opendir(path)) {
      remainingEntries -= 1;
      if (remainingEntries < 0) return false;
      const at = join(path, entry.name);
      if (!entry.isFile() && !entry.isDirectory()) continue;
      const mode = (await stat(at).catch(() => undefined))?.mode;
      // It has since been removed.
      if (mode === undefined) continue;
      const isFolder = entry.isDirectory();
      let isVisible = (mode & (isFolder ? 0o005 : 0o004)) !== 0;
      const before = remainingEntries;
      if (isVisible && isFolder && depth < MAX_DEPTH) isVisible = await visit(at, depth + 1).catch(() => false);
      if (isVisible) continue;
      found.push({ kind: 'hidden', at, isFolder });
      // The entries of a hidden folder do not count.
      remainingEntries = before;
    }
    return true;
  };
  await visit(folder, 1).catch(() => false);
  return found;
}
