import { sep } from 'node:path';

/** The content of a sandbox at a path. Everything else is absent. */
export type Mount =
  /** A file or folder of the machine. */
  | { readonly kind: 'read' | 'write'; readonly at: string; readonly from: string }
  /** An empty folder to write to, in memory and of that size at most. */
  | { readonly kind: 'private'; readonly at: string; readonly bytes: number }
  /** Nothing, where a folder above it is shown. */
  | { readonly kind: 'hidden'; readonly at: string; readonly isFolder: boolean }
  | { readonly kind: 'link'; readonly at: string; readonly to: string }
  /** A file to write to that begins as a copy; what is written is lost at the end. */
  | { readonly kind: 'copy'; readonly at: string; readonly from: string };

/** Whether a path is that folder or inside it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/**
 * The mounts in the order in which they can be made: a folder before what is inside it. Of two at one path the later counts.
 * A link with a mount below it is left out: bubblewrap would follow it out of the sandbox, and fail.
 */
function orderMounts(mounts: readonly Mount[]): readonly Mount[] {
  const byPath = new Map<string, Mount>();
  for (const mount of mounts) byPath.set(mount.at, mount);
  const isBlocking = ({ kind, at }: Mount): boolean =>
    kind === 'link' && mounts.some((other) => other.at !== at && isWithin(other.at, at));
  const possible = [...byPath.values()].filter((mount) => !isBlocking(mount));
  return possible.toSorted((one, other) => countSteps(one.at) - countSteps(other.at));
}

function countSteps(path: string): number {
  return path.split(sep).length;
}

/**
 * The arguments of bubblewrap for these mounts. `descriptors` has the number under which the file of each `copy` is open.
 *
 * @example
 * renderMounts([{ kind: 'read', at: '/usr', from: '/usr' }], new Map()) // ['--ro-bind', '/usr', '/usr']
 */
export function renderMounts(mounts: readonly Mount[], descriptors: ReadonlyMap<string, number>): string[] {
  const args: string[] = [];
  const closed: string[] = [];
  for (const mount of orderMounts(mounts)) {
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
          // Nested mounts are added before it is closed.
          args.push('--size', '1048576', '--tmpfs', at);
          closed.push('--remount-ro', at);
        } else args.push('--ro-bind', '/dev/null', at);
        break;
    }
  }
  return [...args, ...closed];
}
