import { lstat, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { guardNestedRepositories, type GuardGit } from './git-folders.js';
import { SandboxError, isWithin, type Mount } from './mount.js';
import { isBroad } from './system-folders.js';

export const INCOMPLETE_SEARCH =
  'the working folder has too many folders or repositories to protect the hooks of all of them; use a smaller folder';

/**
 * Adds the mounts that protect repositories in writable folders, and those that cover hidden paths. `isSearchComplete`:
 * every folder was searched for repositories.
 */
export async function completeMounts(
  listed: readonly Mount[],
  {
    writable,
    hidden,
    guard,
  }: { readonly writable: readonly string[]; readonly hidden: readonly string[]; readonly guard: GuardGit },
): Promise<{ readonly mounts: Mount[]; readonly isSearchComplete: boolean }> {
  const mounts = [...listed];
  const skipped = [...hidden, ...mounts.map(({ at }) => at)];
  let isSearchComplete = true;
  for (const folder of new Set(writable)) {
    const nested = await guardNestedRepositories({ folder, skipped, guard });
    mounts.push(...nested.mounts);
    isSearchComplete &&= nested.isComplete;
  }
  for (const at of hidden) {
    const found = await lstat(at).catch(() => undefined);
    const isVisible = mounts.some(
      ({ kind, at: mountedAt }) => (kind === 'read' || kind === 'write') && isWithin(at, mountedAt),
    );
    if (found !== undefined && isVisible) mounts.push({ kind: 'hidden', at, isFolder: found.isDirectory() });
  }
  return { mounts: await dropUnreachable(mounts), isSearchComplete };
}

/** Skips paths through a link in a mounted folder: inside, the mount would be created at the target of the link. */
async function dropUnreachable(mounts: readonly Mount[]): Promise<Mount[]> {
  const isNested = (mount: Mount): boolean =>
    mounts.some((other) => {
      const isHostMount = other.kind === 'read' || other.kind === 'write';
      return isHostMount && other.at !== mount.at && isWithin(mount.at, other.at);
    });
  const realPaths = await Promise.all(
    mounts.map(async (mount) => (isNested(mount) ? realpath(mount.at).catch(() => undefined) : mount.at)),
  );
  return mounts.filter((mount, index) => realPaths[index] === mount.at);
}

/** Adds the targets of paths that are links. */
export async function addRealPaths(paths: readonly string[]): Promise<readonly string[]> {
  const real = await Promise.all(paths.map(async (path) => realpath(path).catch(() => path)));
  return [...new Set([...paths, ...real])];
}

/** Refuses a sandbox that lacks a guarantee, if it is required. */
export function refuseGaps({ isRequired }: { readonly isRequired: boolean }, gaps: readonly string[]): void {
  if (isRequired && gaps.length > 0) throw new SandboxError(gaps.join('; '));
}

/** Rejects a working folder such as `/` or the home folder: mounting it would expose what the sandbox protects. */
export function rejectBroadFolder(
  { workdir, hidden }: { readonly workdir: string; readonly hidden: readonly string[] },
  home: string,
): void {
  if (isBroad(workdir, home) || isBroad(workdir, homedir())) {
    throw new SandboxError(
      `the working folder "${workdir}" contains the home folder or system folders; use a project folder`,
    );
  }
  if (hidden.includes(workdir))
    throw new SandboxError(`the working folder "${workdir}" is used by Sluice itself; use another folder`);
}
