import { lstat, opendir, readlink, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mount } from './mount.js';

/** Where programs and their libraries are on common distributions. Excludes home folders, `/run`, `/var`, `/srv`, mounted disks. */
const FOLDERS = [
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
/** Never mounted as a whole, even if a program is directly inside one. */
const BROAD = '/ /home /root /var /var/tmp /tmp /run /proc /sys /dev /mnt /media /srv'.split(' ');

/** Limits of the search for files that only root may read. */
const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 4;

let known: Promise<readonly Mount[]> | undefined;

/** The system's own folders, read-only; the same for every sandbox of this process. */
export async function findSystemFolders(): Promise<readonly Mount[]> {
  known ??= listSystemFolders();
  return known;
}

/** Whether showing this folder would show far more than one program. */
export function isBroad(folder: string, home: string): boolean {
  return BROAD.includes(folder) || home === folder || home.startsWith(`${folder}/`);
}

/** Whether a path is inside one of the system's own folders. */
export function isInSystem(path: string): boolean {
  return FOLDERS.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

async function listSystemFolders(): Promise<readonly Mount[]> {
  const mounts: Mount[] = [];
  for (const folder of FOLDERS) {
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isSymbolicLink() === true) mounts.push({ kind: 'link', at: folder, to: await readlink(folder) });
    else if (found?.isDirectory() === true) mounts.push({ kind: 'read', at: folder, from: folder });
  }
  mounts.push({ kind: 'link', at: '/var/run', to: '/run' });
  // Often a link to a file that a service writes elsewhere.
  const resolver = await realpath('/etc/resolv.conf').catch(() => undefined);
  if (resolver !== undefined && !isInSystem(resolver)) mounts.push({ kind: 'read', at: resolver, from: resolver });
  // Other users cannot read these files; root could, even inside the sandbox, so they are hidden.
  if (process.getuid?.() === 0) mounts.push(...(await listClosedEntries('/etc')));
  return mounts;
}

/** Lists files and folders that are not world-readable, such as keys and password hashes. */
async function listClosedEntries(folder: string): Promise<Mount[]> {
  const found: Mount[] = [];
  let left = MAX_ENTRIES;
  const visit = async (path: string, depth: number): Promise<void> => {
    for await (const entry of await opendir(path)) {
      left -= 1;
      if (left < 0) return;
      const at = join(path, entry.name);
      if (!entry.isFile() && !entry.isDirectory()) continue;
      const { mode } = await stat(at);
      const isFolder = entry.isDirectory();
      if ((mode & (isFolder ? 0o005 : 0o004)) === 0) found.push({ kind: 'hidden', at, isFolder });
      else if (isFolder && depth < MAX_DEPTH) await visit(at, depth + 1);
    }
  };
  await visit(folder, 1).catch(() => undefined);
  return found;
}
