import { realpath } from 'node:fs/promises';
import { resolve, sep } from 'node:path';

/** A mounted path in the sandbox. Paths without a mount do not exist there. */
export type Mount =
  /** A file or folder on the host. */
  | { readonly kind: 'read' | 'write'; readonly at: string; readonly from: string }
  /** An empty, writable folder in memory, with a size limit. */
  | { readonly kind: 'private'; readonly at: string; readonly bytes: number }
  /** Hides a path inside a mounted folder. */
  | { readonly kind: 'hidden'; readonly at: string; readonly isFolder: boolean }
  | { readonly kind: 'link'; readonly at: string; readonly to: string }
  /** A writable copy of a file; changes are lost when the sandbox ends. */
  | { readonly kind: 'copy'; readonly at: string; readonly from: string };

/** Lists mounts of the files and folders that exist. */
export async function mountExisting(kind: 'read' | 'write', paths: readonly string[]): Promise<Mount[]> {
  const mounts: Mount[] = [];
  for (const at of paths.map((path) => resolve(path))) {
    const from = await realpath(at).catch(() => undefined);
    if (from !== undefined) mounts.push({ kind, at, from });
  }
  return mounts;
}

/** Whether a path is the folder itself or inside it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/**
 * Sorts mounts so that a folder comes before its content. If two mounts have the same path, the later one wins. A link
 * with a mount below it is omitted: bubblewrap would follow it out of the sandbox and fail. So is a link in a mounted
 * folder, which already has it.
 */
export function sortMounts(mounts: readonly Mount[]): readonly Mount[] {
  const byPath = new Map<string, Mount>();
  for (const mount of mounts) byPath.set(mount.at, mount);
  const isBlocking = ({ kind, at }: Mount): boolean =>
    kind === 'link' &&
    mounts.some((other) => {
      const isInMounted = (other.kind === 'read' || other.kind === 'write') && isWithin(at, other.at);
      return other.at !== at && (isInMounted || isWithin(other.at, at));
    });
  const possible = [...byPath.values()].filter((mount) => !isBlocking(mount));
  return possible.toSorted((one, other) => countSegments(one.at) - countSegments(other.at));
}

function countSegments(path: string): number {
  return path.split(sep).length;
}

/**
 * Returns bubblewrap's arguments for these mounts. `descriptors` maps the path of each `copy` to its file descriptor.
 *
 * @example
 * renderMounts([{ kind: 'read', at: '/usr', from: '/usr' }], new Map()) // ['--ro-bind', '/usr', '/usr']
 */
export function renderMounts(mounts: readonly Mount[], descriptors: ReadonlyMap<string, number>): string[] {
  const args: string[] = [];
  const remounts: string[] = [];
  for (const mount of sortMounts(mounts)) {
    const { at } = mount;
    switch (mount.kind) {
      case 'read':
        args.push('--ro-bind', mount.from, at);
        break;
      case 'write':
        args.push('--bind', mount.from, at);
        break;
      case 'private':
        args.push('--perms', '0700', '--size', String(mount.bytes), '--tmpfs', at);
        break;
      case 'link':
        args.push('--symlink', mount.to, at);
        break;
      case 'copy':
        args.push('--perms', '0600', '--file', String(descriptors.get(at)), at);
        break;
      case 'hidden':
        if (mount.isFolder) {
          // It becomes read-only last, after the mounts inside it.
          args.push('--size', '1048576', '--tmpfs', at);
          remounts.push('--remount-ro', at);
        } else args.push('--ro-bind', '/dev/null', at);
        break;
    }
  }
  return [...args, ...remounts];
}

/** A sandbox cannot be created on this host, or for this run. Runs report it as `SANDBOX_UNAVAILABLE`. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  /** The reason, without an initial capital or a full stop. */
  readonly reason: string;

  constructor(reason: string) {
    super(`The run requires a sandbox, but none is available: ${reason}.`);
    this.reason = reason;
  }
}
